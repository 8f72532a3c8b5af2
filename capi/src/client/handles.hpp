// The structs behind the handles of libbillcore.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "billcore/client.h"
#include "billcore/client.hpp"
#include "billcore/detail/table.hpp"
#include "client/operation_option_names.hpp"
#include "shared/guard.hpp"
#include "shared/handles.hpp"

namespace billcore::capi {

/// Options of a search for charges.
struct ChargeSearchOptions {
  std::optional<std::chrono::microseconds> skew;
  std::optional<std::int64_t> product_id;
};

}  // namespace billcore::capi

// A pointer to billcore_client_options and similar types in fact points to a billcore_options.
struct billcore_options {
  static constexpr const char* name = "billcore_options";
  using View = std::variant<billcore::ClientOptions, billcore::ClientChanges, billcore::CallOptions,
                            billcore::Charge,  // in C, the charge function has parameters for the required members
                            billcore::JsonObject, billcore::RequestOptions, billcore::capi::ListOptions,
                            billcore::capi::ChargeSearchOptions>;
  explicit billcore_options(View of_a_kind) : view(std::move(of_a_kind)) {}
  View view;
};

struct billcore_cancel {
  static constexpr const char* name = "billcore_cancel";
  std::stop_source source;
};

struct billcore_client {
  static constexpr const char* name = "billcore_client";
  explicit billcore_client(billcore::ClientOptions options) : view(std::move(options)) {}
  explicit billcore_client(billcore::Client client) : view(std::move(client)) {}
  billcore::Client view;
};

struct billcore_response : billcore_result {
  static constexpr const char* name = "billcore_response";
  explicit billcore_response(billcore::Response response)
      : billcore_result{BILLCORE_RESULT_RESPONSE}, view(std::move(response)) {}
  billcore::Response view;
};

namespace billcore::capi {
struct ListOnLoop;
}

// A pointer to billcore_order_list and similar types in fact points to a billcore_list, and a pointer to
// billcore_order_page to a billcore_page.
struct billcore_list {
  static constexpr const char* name = "billcore_list";
  template <typename T>
  explicit billcore_list(billcore::Pager<T> pager) : table(billcore::detail::table_of<T>), view(std::move(pager)) {}
  billcore::detail::Table table;  // kind of the items
  billcore::AnyPager view;
  std::shared_ptr<billcore::capi::ListOnLoop> on_loop;  // null until the list is read on a loop
};

struct billcore_page : billcore_result {
  static constexpr const char* name = "billcore_page";
  explicit billcore_page(const billcore::detail::PageData& page) : numbers(page.pagination) {
    items.reserve(page.items.size());
    for (const auto* item : page.items) items.emplace_back(billcore::Value(page.document, item));
  }
  explicit billcore_page(const std::vector<billcore::Order>& found)
      : billcore_result{BILLCORE_RESULT_PAGE}, items(found.begin(), found.end()) {}
  explicit billcore_page(const std::vector<billcore::Value>& found) : items(found.begin(), found.end()) {}
  std::optional<billcore::Resource> numbers;  // `pagination` of the page; not set for the result of a charge search
  std::vector<billcore::Resource> items;
};

namespace billcore::capi {

/// Maps a handle type of C to the type of the options that it holds.
template <typename Face>
struct OptionsOf;
template <>
struct OptionsOf<billcore_client_options> {
  using type = ClientOptions;
};
template <>
struct OptionsOf<billcore_client_changes> {
  using type = ClientChanges;
};
template <>
struct OptionsOf<billcore_call_options> {
  using type = CallOptions;
};
template <>
struct OptionsOf<billcore_charge_search> {
  using type = ChargeSearchOptions;
};

/// The options in a handle, which is not NULL.
template <typename Face>
const auto& options_in(const Face* given) {
  const auto* found =
      std::get_if<typename OptionsOf<Face>::type>(&reinterpret_cast<const billcore_options*>(given)->view);
  if (found == nullptr) refuse("these options are of another kind");
  return *found;
}

/// A copy of the options in a handle; for NULL, options of which none is set.
template <typename Face>
typename OptionsOf<Face>::type options_of(const Face* given) {
  return given == nullptr ? typename OptionsOf<Face>::type() : options_in(given);
}

/// The options of a call, without a copy.
inline const CallOptions& call_options_of(const billcore_call_options* given) {
  static const CallOptions none;
  return given == nullptr ? none : options_in(given);
}

}  // namespace billcore::capi
