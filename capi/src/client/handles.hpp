// The handles of the client half.
#pragma once

#include <optional>
#include <string>
#include <utility>
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

struct billcore_subscription_query {
  static constexpr const char* name = "billcore_subscription_query";
  billcore::SubscriptionQuery options;
};

struct billcore_order_query {
  static constexpr const char* name = "billcore_order_query";
  billcore::OrderQuery options;
};

struct billcore_product_query {
  static constexpr const char* name = "billcore_product_query";
  billcore::ProductQuery options;
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

struct billcore_pagination {
  static constexpr const char* name = "billcore_pagination";
  explicit billcore_pagination(billcore::Pagination pagination) : view(std::move(pagination)) {}
  billcore::Pagination view;
};

namespace billcore::capi {

template <typename T>
struct ListHandle {
  explicit ListHandle(Pager<T> pager) : view(std::move(pager)) {}
  Pager<T> view;
};

template <typename T>
struct PageHandle {
  explicit PageHandle(Page<T> page) : view(std::move(page)), items(view.items()) {}
  Page<T> view;
  std::vector<T> items;
};

}  // namespace billcore::capi

struct billcore_subscription_list : billcore::capi::ListHandle<billcore::Subscription> {
  static constexpr const char* name = "billcore_subscription_list";
  using ListHandle::ListHandle;
};

struct billcore_order_list : billcore::capi::ListHandle<billcore::Order> {
  static constexpr const char* name = "billcore_order_list";
  using ListHandle::ListHandle;
};

struct billcore_product_list : billcore::capi::ListHandle<billcore::Product> {
  static constexpr const char* name = "billcore_product_list";
  using ListHandle::ListHandle;
};

struct billcore_subscription_page : billcore::capi::PageHandle<billcore::Subscription> {
  static constexpr const char* name = "billcore_subscription_page";
  using PageHandle::PageHandle;
};

struct billcore_order_page : billcore::capi::PageHandle<billcore::Order> {
  static constexpr const char* name = "billcore_order_page";
  using PageHandle::PageHandle;
};

struct billcore_product_page : billcore::capi::PageHandle<billcore::Product> {
  static constexpr const char* name = "billcore_product_page";
  using PageHandle::PageHandle;
};

namespace billcore::capi {

/// What an optional options handle holds; nothing set when it is NULL.
template <typename Handle>
auto options_of(const Handle* given) {
  return given != nullptr ? given->options : decltype(given->options){};
}

}  // namespace billcore::capi
