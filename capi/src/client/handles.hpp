// The handles of the client half.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "billcore/client.h"
#include "billcore/client.hpp"

struct billcore_client_options {
  static constexpr const char* name = "billcore_client_options";
  billcore::ClientOptions options;
};

struct billcore_call_options {
  static constexpr const char* name = "billcore_call_options";
  billcore::CallOptions options;
};

struct billcore_client_changes {
  static constexpr const char* name = "billcore_client_changes";
  billcore::ClientChanges options;
};

struct billcore_charge_options {
  static constexpr const char* name = "billcore_charge_options";
  billcore::Charge options;  // without product and amount
};

struct billcore_product_changes {
  static constexpr const char* name = "billcore_product_changes";
  billcore::JsonObject options;
};

struct billcore_request_options {
  static constexpr const char* name = "billcore_request_options";
  billcore::RequestOptions options;
};

struct billcore_query {
  static constexpr const char* name = "billcore_query";
  std::optional<std::string> reference_id;
  std::vector<std::string> states;
  std::optional<std::int64_t> product_id;
  std::optional<std::int64_t> per_page;
  std::int64_t page = 1;
  bool strict = false;
  std::optional<std::string> resume;
};

struct billcore_client {
  static constexpr const char* name = "billcore_client";
  explicit billcore_client(billcore::ClientOptions options) : view(std::move(options)) {}
  explicit billcore_client(billcore::Client client) : view(std::move(client)) {}
  billcore::Client view;
};

struct billcore_response {
  static constexpr const char* name = "billcore_response";
  explicit billcore_response(billcore::Response response) : view(std::move(response)) {}
  billcore::Response view;
};

// A pointer to billcore_order_list and the like is one to this; so it is with pages and queries.
struct billcore_list {
  static constexpr const char* name = "billcore_list";
  template <typename T>
  explicit billcore_list(billcore::Pager<T> pager) : view(std::move(pager)) {}
  std::variant<billcore::Pager<billcore::Subscription>, billcore::Pager<billcore::Order>,
               billcore::Pager<billcore::Product>>
      view;
};

struct billcore_page {
  static constexpr const char* name = "billcore_page";
  template <typename T>
  explicit billcore_page(const billcore::Page<T>& page) : numbers(page.pagination()) {
    auto typed = page.items();
    items.assign(typed.begin(), typed.end());
  }
  billcore::Resource numbers;
  std::vector<billcore::Resource> items;
};

namespace billcore::capi {

/// What an optional options handle holds; nothing set when it is NULL.
template <typename Handle>
auto options_of(const Handle* given) {
  return given != nullptr ? given->options : decltype(given->options){};
}

}  // namespace billcore::capi
