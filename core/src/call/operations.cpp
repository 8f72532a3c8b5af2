// The request of each operation.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "billcore/detail/document.hpp"
#include "billcore/error.hpp"
#include "billcore/operation.hpp"
#include "call/routes.hpp"
#include "http/url.hpp"

namespace billcore {
namespace {

namespace routes = detail::routes;

constexpr std::string_view placeholder = "{id}";

// The path of a route with `segment` in place of the id.
std::string fill_in(std::string_view route, std::string_view segment) {
  const auto at = route.find(placeholder);
  std::string path;
  path.reserve(route.size() - placeholder.size() + segment.size());
  return path.append(route.substr(0, at)).append(segment).append(route.substr(at + placeholder.size()));
}
std::string fill(std::string_view route, const Id& id) { return fill_in(route, detail::path_segment(id)); }
std::string fill(std::string_view route, std::int64_t id) { return fill_in(route, std::to_string(id)); }

// The route that a custom path belongs to; empty if it is not part of the interface.
std::string_view route_of(std::string_view path) noexcept {
  for (const auto route : routes::all) {
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
  ListOperation out{std::string(routes::subscriptions), routes::subscriptions};
  if (query.reference_id) out.query.emplace_back("filter[reference_id]", *query.reference_id);
  return out;
}

Operation get_subscription(const Id& id) { return {"GET", fill(routes::subscription, id), routes::subscription}; }

Operation cancel_subscription(const Id& id) {
  return {"POST", fill(routes::subscription_cancel, id), routes::subscription_cancel};
}

Operation change_subscription_product(const Id& id, std::int64_t product_id) {
  JsonObject body;
  body.set("product_id", product_id);
  return {"POST", fill(routes::subscription_product, id), routes::subscription_product, {}, body.dump()};
}

Operation charge_subscription(const Id& id, const Charge& charge) {
  JsonObject body;
  body.set("product_id", charge.product_id).set("amount", charge.amount);
  if (charge.quantity) body.set("quantity", *charge.quantity);
  if (charge.vat) body.set("vat", *charge.vat);
  if (charge.description) body.set("description", *charge.description);
  return {"POST", fill(routes::subscription_order, id), routes::subscription_order, {}, body.dump()};
}

ListOperation list_orders(const Id& subscription, const OrderQuery& query) {
  ListOperation out{fill(routes::subscription_orders, subscription), routes::subscription_orders};
  if (query.per_page) {
    if (*query.per_page < routes::min_per_page || *query.per_page > routes::max_per_page) {
      throw Error(ErrorCode::invalid_argument, "per_page is " + std::to_string(*query.per_page) + ": it must be from " +
                                                   std::to_string(routes::min_per_page) + " to " +
                                                   std::to_string(routes::max_per_page));
    }
    out.query.emplace_back("per_page", std::to_string(*query.per_page));
  }
  if (query.product_id) out.query.emplace_back("filter[product_id]", std::to_string(*query.product_id));
  if (!query.states.empty()) out.query.emplace_back("filter[state]", joined(query.states));
  return out;
}

Operation get_order(const Id& id) { return {"GET", fill(routes::order, id), routes::order}; }

ListOperation list_products() { return {std::string(routes::products), routes::products}; }

Operation get_product(std::int64_t id) { return {"GET", fill(routes::product, id), routes::product}; }

Operation update_product(std::int64_t id, const JsonObject& fields) {
  if (fields.empty()) {
    throw Error(ErrorCode::invalid_argument, "the update has no fields: pass at least one field to change");
  }
  return {"POST", fill(routes::product, id), routes::product, {}, fields.dump()};
}

Operation delete_product(std::int64_t id) {
  Operation out{"DELETE", fill(routes::product, id), routes::product};
  out.promises_json = false;
  return out;
}

Operation create_webhook_endpoint(std::string_view url) {
  if (std::any_of(url.begin(), url.end(), detail::is_control)) {
    throw Error(ErrorCode::invalid_argument, "url contains a line end or another control character");
  }
  JsonObject body;
  body.set("url", url);
  Operation out{"POST", std::string(routes::webhooks_endpoints), routes::webhooks_endpoints, {}, body.dump()};
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
