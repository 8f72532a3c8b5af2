// Options, queries and changes: setters.
#include "billcore/options.h"

#include <chrono>

#include "client/handles.hpp"
#include "shared/convert.hpp"
#include "shared/guard.hpp"

using namespace billcore::capi;

namespace {

/// Runs a setter on what an options handle holds.
template <typename Handle, typename Set>
billcore_status set(Handle* self, Set set, billcore_error** err) noexcept {
  return call(err, [&] { set(handle(self).options); });
}

template <typename Handle>
billcore_status make(Handle** out, billcore_error** err) noexcept {
  return call(
      err, [&] { put_new(out); }, out);
}

/// set_json of a number's text: nothing that is JSON, but no number, begins and ends so.
void set_number(billcore::JsonObject& fields, std::string_view name, std::string_view number) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool plausible = !number.empty() && (digit(number.front()) || number.front() == '-') && digit(number.back());
  if (!plausible) refuse(std::string(name) + " is not a JSON number: pass its digits, such as 25 or 12.50");
  fields.set_json(name, number);
}

}  // namespace

billcore_status billcore_client_options_new(billcore_client_options** out, billcore_error** err) {
  return make(out, err);
}

billcore_status billcore_client_options_set_base_url(billcore_client_options* options, billcore_str url,
                                                     billcore_error** err) {
  return set(
      options, [&](auto& to) { to.base_url = text(url); }, err);
}

billcore_status billcore_client_options_set_api_key(billcore_client_options* options, billcore_str key,
                                                    billcore_error** err) {
  return set(
      options, [&](auto& to) { to.api_key = text(key); }, err);
}

billcore_status billcore_client_options_set_timeout_ms(billcore_client_options* options, int64_t milliseconds,
                                                       billcore_error** err) {
  return set(
      options, [&](auto& to) { to.timeout = std::chrono::milliseconds(milliseconds); }, err);
}

billcore_status billcore_client_options_set_no_timeout(billcore_client_options* options, billcore_error** err) {
  return set(
      options, [](auto& to) { to.timeout = billcore::no_timeout; }, err);
}

billcore_status billcore_client_options_set_max_retries(billcore_client_options* options, int32_t max_retries,
                                                        billcore_error** err) {
  return set(
      options, [&](auto& to) { to.max_retries = max_retries; }, err);
}

billcore_status billcore_client_options_set_concurrency(billcore_client_options* options, int32_t pages,
                                                        billcore_error** err) {
  return set(
      options, [&](auto& to) { to.concurrency = pages; }, err);
}

billcore_status billcore_client_options_set_proxy(billcore_client_options* options, billcore_str url,
                                                  billcore_error** err) {
  return set(
      options,
      [&](auto& to) {
        if (view(url).empty()) refuse("the proxy's URL is empty: for no proxy there is set_no_proxy");
        to.proxy = text(url);
      },
      err);
}

billcore_status billcore_client_options_set_no_proxy(billcore_client_options* options, billcore_error** err) {
  return set(
      options, [](auto& to) { to.proxy = ""; }, err);
}

billcore_status billcore_client_options_set_ca_bundle(billcore_client_options* options, billcore_str file,
                                                      billcore_error** err) {
  return set(
      options, [&](auto& to) { to.ca_bundle = text(file); }, err);
}

billcore_status billcore_client_options_set_client_certificate(billcore_client_options* options, billcore_str file,
                                                               billcore_error** err) {
  return set(
      options, [&](auto& to) { to.client_certificate = text(file); }, err);
}

billcore_status billcore_client_options_add_header(billcore_client_options* options, billcore_str name,
                                                   billcore_str value, billcore_error** err) {
  return set(
      options, [&](auto& to) { to.headers.emplace_back(text(name), text(value)); }, err);
}

billcore_status billcore_client_options_enable_http2(billcore_client_options* options, billcore_error** err) {
  return set(
      options, [](auto& to) { to.http2 = true; }, err);
}

billcore_status billcore_client_options_disable_http2(billcore_client_options* options, billcore_error** err) {
  return set(
      options, [](auto& to) { to.http2 = false; }, err);
}

billcore_status billcore_client_options_allow_insecure_http(billcore_client_options* options, billcore_error** err) {
  return set(
      options, [](auto& to) { to.allow_insecure_http = true; }, err);
}

billcore_status billcore_client_options_set_request_id_header(billcore_client_options* options, billcore_str name,
                                                              billcore_error** err) {
  return set(
      options, [&](auto& to) { to.request_id_header = text(name); }, err);
}

billcore_status billcore_client_options_set_max_response(billcore_client_options* options, size_t bytes,
                                                         billcore_error** err) {
  return set(
      options, [&](auto& to) { to.max_response = bytes; }, err);
}

billcore_status billcore_client_options_set_interrupt(billcore_client_options* options, billcore_interrupt callback,
                                                      void* context, billcore_error** err) {
  return set(
      options,
      [&](auto& to) {
        to.interrupt = nullptr;
        if (callback != nullptr) to.interrupt = [callback, context] { return callback(context); };
      },
      err);
}

void billcore_client_options_free(billcore_client_options* options) { delete options; }

billcore_status billcore_call_options_new(billcore_call_options** out, billcore_error** err) { return make(out, err); }

billcore_status billcore_call_options_set_timeout_ms(billcore_call_options* options, int64_t milliseconds,
                                                     billcore_error** err) {
  return set(
      options, [&](auto& to) { to.timeout = std::chrono::milliseconds(milliseconds); }, err);
}

billcore_status billcore_call_options_set_no_timeout(billcore_call_options* options, billcore_error** err) {
  return set(
      options, [](auto& to) { to.timeout = billcore::no_timeout; }, err);
}

void billcore_call_options_free(billcore_call_options* options) { delete options; }

billcore_status billcore_client_changes_new(billcore_client_changes** out, billcore_error** err) {
  return make(out, err);
}

billcore_status billcore_client_changes_set_timeout_ms(billcore_client_changes* changes, int64_t milliseconds,
                                                       billcore_error** err) {
  return set(
      changes, [&](auto& to) { to.timeout = std::chrono::milliseconds(milliseconds); }, err);
}

billcore_status billcore_client_changes_set_no_timeout(billcore_client_changes* changes, billcore_error** err) {
  return set(
      changes, [](auto& to) { to.timeout = billcore::no_timeout; }, err);
}

billcore_status billcore_client_changes_set_max_retries(billcore_client_changes* changes, int32_t max_retries,
                                                        billcore_error** err) {
  return set(
      changes, [&](auto& to) { to.max_retries = max_retries; }, err);
}

billcore_status billcore_client_changes_set_concurrency(billcore_client_changes* changes, int32_t pages,
                                                        billcore_error** err) {
  return set(
      changes, [&](auto& to) { to.concurrency = pages; }, err);
}

billcore_status billcore_client_changes_add_header(billcore_client_changes* changes, billcore_str name,
                                                   billcore_str value, billcore_error** err) {
  return set(
      changes,
      [&](auto& to) {
        if (!to.headers) to.headers.emplace();
        to.headers->emplace_back(text(name), text(value));
      },
      err);
}

void billcore_client_changes_free(billcore_client_changes* changes) { delete changes; }

billcore_status billcore_charge_options_new(billcore_charge_options** out, billcore_error** err) {
  return make(out, err);
}

billcore_status billcore_charge_options_set_quantity(billcore_charge_options* options, int64_t quantity,
                                                     billcore_error** err) {
  return set(
      options, [&](auto& to) { to.quantity = quantity; }, err);
}

billcore_status billcore_charge_options_set_vat(billcore_charge_options* options, int64_t basis_points,
                                                billcore_error** err) {
  return set(
      options, [&](auto& to) { to.vat = basis_points; }, err);
}

billcore_status billcore_charge_options_set_description(billcore_charge_options* options, billcore_str given,
                                                        billcore_error** err) {
  return set(
      options, [&](auto& to) { to.description = text(given); }, err);
}

void billcore_charge_options_free(billcore_charge_options* options) { delete options; }

billcore_status billcore_product_changes_new(billcore_product_changes** out, billcore_error** err) {
  return make(out, err);
}

billcore_status billcore_product_changes_set_name(billcore_product_changes* changes, billcore_str text,
                                                  billcore_error** err) {
  return set(
      changes, [&](auto& to) { to.set("name", view(text)); }, err);
}

billcore_status billcore_product_changes_set_description(billcore_product_changes* changes, billcore_str text,
                                                         billcore_error** err) {
  return set(
      changes, [&](auto& to) { to.set("description", view(text)); }, err);
}

billcore_status billcore_product_changes_set_price(billcore_product_changes* changes, int64_t cents,
                                                   billcore_error** err) {
  return set(
      changes, [&](auto& to) { to.set("price", cents); }, err);
}

billcore_status billcore_product_changes_set_currency(billcore_product_changes* changes, billcore_str text,
                                                      billcore_error** err) {
  return set(
      changes, [&](auto& to) { to.set("currency", view(text)); }, err);
}

billcore_status billcore_product_changes_set_vat_rate(billcore_product_changes* changes, billcore_str number,
                                                      billcore_error** err) {
  return set(
      changes, [&](auto& to) { set_number(to, "vat_rate", view(number)); }, err);
}

billcore_status billcore_product_changes_set_interval(billcore_product_changes* changes, billcore_str text,
                                                      billcore_error** err) {
  return set(
      changes, [&](auto& to) { to.set("interval", view(text)); }, err);
}

billcore_status billcore_product_changes_set_null(billcore_product_changes* changes, billcore_str field,
                                                  billcore_error** err) {
  return set(
      changes, [&](auto& to) { to.set_null(view(field)); }, err);
}

billcore_status billcore_product_changes_set_json(billcore_product_changes* changes, billcore_str field,
                                                  billcore_str json, billcore_error** err) {
  return set(
      changes, [&](auto& to) { to.set_json(view(field), view(json)); }, err);
}

void billcore_product_changes_free(billcore_product_changes* changes) { delete changes; }

billcore_status billcore_request_options_new(billcore_request_options** out, billcore_error** err) {
  return make(out, err);
}

billcore_status billcore_request_options_add_query(billcore_request_options* options, billcore_str name,
                                                   billcore_str value, billcore_error** err) {
  return set(
      options, [&](auto& to) { to.query.emplace_back(text(name), text(value)); }, err);
}

billcore_status billcore_request_options_set_json(billcore_request_options* options, billcore_str json,
                                                  billcore_error** err) {
  return set(
      options, [&](auto& to) { to.json = text(json); }, err);
}

billcore_status billcore_request_options_accept_all_statuses(billcore_request_options* options, billcore_error** err) {
  return set(
      options, [](auto& to) { to.raise_on_error = false; }, err);
}

void billcore_request_options_free(billcore_request_options* options) { delete options; }
