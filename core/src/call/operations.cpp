// The request of each operation.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "billcore/detail/document.hpp"
#include "billcore/error.hpp"
#include "billcore/operation.hpp"
#include "http/url.hpp"

namespace billcore {
namespace {

constexpr std::int64_t max_per_page = 200;

constexpr std::string_view all_subscriptions = "/subscriptions";
constexpr std::string_view one_subscription = "/subscription/{id}";
constexpr std::string_view subscription_cancel = "/subscription/{id}/cancel";
constexpr std::string_view subscription_product = "/subscription/{id}/product";
constexpr std::string_view subscription_order = "/subscription/{id}/order";
constexpr std::string_view subscription_orders = "/subscription/{id}/orders";
constexpr std::string_view one_order = "/order/{id}";
constexpr std::string_view all_products = "/products";
constexpr std::string_view one_product = "/product/{id}";
constexpr std::string_view webhook_endpoints = "/webhooks/endpoints";

constexpr std::string_view placeholder = "{id}";

// The path of a route with `segment` in place of the id.
std::string fill_in(std::string_view route, std::string_view segment) {
  std::string path(route);
  return path.replace(path.find(placeholder), placeholder.size(), segment);
}
std::string fill(std::string_view route, const Id& id) { return fill_in(route, detail::path_segment(id)); }
std::string fill(std::string_view route, std::int64_t id) { return fill_in(route, std::to_string(id)); }

// The route that a custom path belongs to; empty if it is not part of the interface.
std::string_view route_of(std::string_view path) noexcept {
  static constexpr std::array<std::string_view, 10> routes{
      all_subscriptions,   one_subscription, subscription_cancel, subscription_product, subscription_order,
      subscription_orders, one_order,        all_products,        one_product,          webhook_endpoints};
  for (const auto route : routes) {
    const auto at = route.find(placeholder);
    if (at == std::string_view::npos) {
      if (path == route) return route;
      continue;
    }
    const auto before = route.substr(0, at);
    const auto behind = route.substr(at + placeholder.size());
    if (path.size() <= before.size() + behind.size() || !path.starts_with(before) || !path.ends_with(behind)) continue;
    const auto id = path.substr(at, path.size() - before.size() - behind.size());
    if (id.find('/') == std::string_view::npos) return route;
  }
  return {};
}

std::string joined(const std::vector<std::string>& states) {
  std::string out;
  for (const auto& state : states) {
    if (state.empty()) {
      throw Error(ErrorCode::invalid_argument,
                  "state is empty: pass a state, or leave it out for orders in every state");
    }
    if (state.find(',') != std::string::npos) {
      throw Error(ErrorCode::invalid_argument,
                  "state contains a comma: pass several states one by one (one item of OrderQuery::states each, in C "
                  "one call of billcore_order_query_add_state each)");
    }
    if (!out.empty()) out += ',';
    out += state;
  }
  return out;
}

}  // namespace

Operation ListOperation::page(std::int64_t number) const {
  Operation out{"GET", path, route, {{"page", std::to_string(number)}}, {}, number};
  out.query.insert(out.query.end(), query.begin(), query.end());
  return out;
}

namespace operations {

ListOperation list_subscriptions(const SubscriptionQuery& query) {
  ListOperation out{std::string(all_subscriptions), all_subscriptions};
  if (query.reference_id) out.query.emplace_back("filter[reference_id]", *query.reference_id);
  return out;
}

Operation get_subscription(const Id& id) { return {"GET", fill(one_subscription, id), one_subscription}; }

Operation cancel_subscription(const Id& id) { return {"POST", fill(subscription_cancel, id), subscription_cancel}; }

Operation change_subscription_product(const Id& id, std::int64_t product_id) {
  JsonObject body;
  body.set("product_id", product_id);
  return {"POST", fill(subscription_product, id), subscription_product, {}, body.dump()};
}

Operation charge_subscription(const Id& id, const Charge& charge) {
  JsonObject body;
  body.set("product_id", charge.product_id).set("amount", charge.amount);
  if (charge.quantity) body.set("quantity", *charge.quantity);
  if (charge.vat) body.set("vat", *charge.vat);
  if (charge.description) body.set("description", *charge.description);
  return {"POST", fill(subscription_order, id), subscription_order, {}, body.dump()};
}

ListOperation list_orders(const Id& subscription, const OrderQuery& query) {
  ListOperation out{fill(subscription_orders, subscription), subscription_orders};
  if (query.per_page) {
    if (*query.per_page < 1 || *query.per_page > max_per_page) {
      throw Error(ErrorCode::invalid_argument,
                  "per_page is " + std::to_string(*query.per_page) + ": it must be from 1 to 200");
    }
    out.query.emplace_back("per_page", std::to_string(*query.per_page));
  }
  if (query.product_id) out.query.emplace_back("filter[product_id]", std::to_string(*query.product_id));
  if (!query.states.empty()) out.query.emplace_back("filter[state]", joined(query.states));
  return out;
}

Operation get_order(const Id& id) { return {"GET", fill(one_order, id), one_order}; }

ListOperation list_products() { return {std::string(all_products), all_products}; }

Operation get_product(std::int64_t id) { return {"GET", fill(one_product, id), one_product}; }

Operation update_product(std::int64_t id, const JsonObject& fields) {
  if (fields.empty()) {
    throw Error(ErrorCode::invalid_argument, "the update has no fields: pass at least one field to change");
  }
  return {"POST", fill(one_product, id), one_product, {}, fields.dump()};
}

Operation delete_product(std::int64_t id) {
  Operation out{"DELETE", fill(one_product, id), one_product};
  out.promises_json = false;
  return out;
}

Operation create_webhook_endpoint(std::string_view url) {
  if (std::any_of(url.begin(), url.end(), detail::is_control)) {
    throw Error(ErrorCode::invalid_argument, "url has a line end or another control character in it");
  }
  JsonObject body;
  body.set("url", url);
  Operation out{"POST", std::string(webhook_endpoints), webhook_endpoints, {}, body.dump()};
  out.promises_json = false;
  return out;
}

Operation request(std::string_view method, std::string_view path, const RequestOptions& options) {
  static constexpr std::array<std::string_view, 5> methods{"GET", "POST", "PUT", "PATCH", "DELETE"};
  if (std::find(methods.begin(), methods.end(), method) == methods.end()) {
    throw Error(ErrorCode::invalid_argument, "method must be GET, POST, PUT, PATCH or DELETE");
  }
  const bool printable = std::all_of(path.begin(), path.end(), [](char c) { return c > 0x20 && c < 0x7F; });
  if (!path.starts_with('/') || !printable || path.find_first_of("?#") != std::string_view::npos) {
    throw Error(ErrorCode::invalid_argument,
                "path must begin with a slash, be percent-encoded, and have no query: pass that as query");
  }
  if (detail::has_dot_segment(path)) {
    throw Error(ErrorCode::invalid_argument, "path must not contain the segments `.` or `..`");
  }
  Operation out{std::string(method), std::string(path), route_of(path), options.query, {}};
  out.promises_json = false;
  if (options.json) {
    if (method == "GET") throw Error(ErrorCode::invalid_argument, "a GET has no body: do not pass json");
    std::string problem;
    out.body = detail::compact_json(*options.json, problem);
    if (!out.body) throw Error(ErrorCode::invalid_argument, "json is not valid JSON: " + problem);
  }
  return out;
}

}  // namespace operations

}  // namespace billcore
