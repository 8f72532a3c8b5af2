// The client, and its operations that are written by hand.
#include "billcore/client.h"

#include <utility>
#include <vector>

#include "billcore/internal.hpp"
#include "client/charge_search.hpp"
#include "client/handles.hpp"
#include "shared/build.hpp"
#include "shared/convert.hpp"
#include "shared/handles.hpp"

using namespace billcore::capi;

namespace {

// This reference to a symbol of libbillcore-webhook makes the loader reject a libbillcore-webhook of another build; see
// webhook/build.cpp. `retain` keeps it although nothing reads it: the libraries are linked with --gc-sections.
[[gnu::used, gnu::retain]] const char* const tied_to_build = &billcore_private_build;

billcore_page* make_page(const std::vector<billcore::Order>& found) { return new billcore_page(found); }

template <typename Search>
billcore_status find_charges(const billcore_client* client, Search search, const billcore_call_options* options,
                             billcore_order_page** out, billcore_error** err) noexcept {
  return call(
      err,
      [&] {
        const auto& self = handle(client).view;
        const auto found = billcore::internal::find_charges(self, search(), call_options_of(options));
        *out = reinterpret_cast<billcore_order_page*>(make_page(found));
      },
      out);
}

}  // namespace

billcore_status billcore_client_new(const billcore_client_options* options, billcore_client** out,
                                    billcore_error** err) {
  return call(
      err, [&] { put_new(out, options_of(options)); }, out);
}

billcore_status billcore_client_with_options(const billcore_client* client, const billcore_client_changes* changes,
                                             billcore_client** out, billcore_error** err) {
  return get_new(
      client, [&](const billcore::Client& from) { return from.with_options(options_of(changes)); }, out, err);
}

billcore_status billcore_client_close(billcore_client* client, billcore_error** err) {
  return call(err, [&] { handle(client).view.close(); });
}

void billcore_client_free(billcore_client* client) { delete client; }

billcore_status billcore_subscription_find_charges(const billcore_client* client, const billcore_error* charge,
                                                   const billcore_charge_search* search,
                                                   const billcore_call_options* call, billcore_order_page** out,
                                                   billcore_error** err) {
  return find_charges(
      client, [&] { return search_of(charge, search); }, call, out, err);
}

billcore_status billcore_subscription_find_charges_since(const billcore_client* client, billcore_str id,
                                                         int64_t unix_micros, const billcore_charge_search* search,
                                                         const billcore_call_options* call, billcore_order_page** out,
                                                         billcore_error** err) {
  return find_charges(
      client, [&] { return search_since(id, unix_micros, search); }, call, out, err);
}

billcore_status billcore_subscription_found_charges(const billcore_error* search_error, billcore_order_page** out,
                                                    billcore_error** err) {
  return call(
      err,
      [&] {
        if (search_error == nullptr) refuse("the error of the search is NULL: pass the one that it gave");
        const auto found = search_error->error ? search_error->error->detail().found : nullptr;
        if (found == nullptr) refuse("the error is not BILLCORE_ERROR_POSSIBLY_MISSED: it has no orders");
        *out = reinterpret_cast<billcore_order_page*>(new billcore_page(*found));
      },
      out);
}
