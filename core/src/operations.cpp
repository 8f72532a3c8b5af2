// The twelve operations: what each sends, and how its answer is read.
#include <algorithm>
#include <utility>

#include "billcore/client.hpp"
#include "billcore/error.hpp"
#include "pager_core.hpp"
#include "session.hpp"
#include "url.hpp"

namespace billcore {
namespace {

using Query = std::vector<std::pair<std::string, std::string>>;

constexpr std::int64_t max_per_page = 200;

std::string subscription_path(const Id& id) { return "/subscription/" + detail::path_segment(id); }
std::string product_path(std::int64_t id) { return "/product/" + std::to_string(id); }

template <typename T>
Pager<T> pager(detail::SessionPtr session, std::string path, Query query, std::int64_t page, const CallOptions& call) {
  session->require_open();
  auto fetch = [session = std::move(session), path = std::move(path), query = std::move(query),
                call](std::int64_t number) {
    Query numbered{{"page", std::to_string(number)}};
    numbered.insert(numbered.end(), query.begin(), query.end());
    return session->list({"GET", path, std::move(numbered)}, call);
  };
  return Pager<T>(std::make_shared<detail::PagerCore>(std::move(fetch), page));
}

std::string joined(const std::vector<std::string>& states) {
  std::string out;
  for (const auto& state : states) {
    if (state.empty() || state.find(',') != std::string::npos) {
      throw Error(ErrorCode::invalid_argument,
                  "state: an order state is empty or has a comma in it: pass one state each");
    }
    if (!out.empty()) out += ',';
    out += state;
  }
  return out;
}

}  // namespace

Pager<Subscription> Subscriptions::list(const SubscriptionQuery& query, const CallOptions& call) const {
  Query filters;
  if (query.reference_id) filters.emplace_back("filter[reference_id]", *query.reference_id);
  return pager<Subscription>(session_, "/subscriptions", std::move(filters), query.page, call);
}

Subscription Subscriptions::get(const Id& id, const CallOptions& call) const {
  return Subscription(session_->resource({"GET", subscription_path(id)}, call));
}

Subscription Subscriptions::cancel(const Id& id, const CallOptions& call) const {
  return Subscription(session_->resource({"POST", subscription_path(id) + "/cancel"}, call));
}

Subscription Subscriptions::change_product(const Id& id, std::int64_t product_id, const CallOptions& call) const {
  JsonObject body;
  body.set("product_id", product_id);
  return Subscription(session_->resource({"POST", subscription_path(id) + "/product", {}, body.dump()}, call));
}

Order Subscriptions::charge(const Id& id, const Charge& charge, const CallOptions& call) const {
  JsonObject body;
  body.set("product_id", charge.product_id).set("amount", charge.amount);
  if (charge.quantity) body.set("quantity", *charge.quantity);
  if (charge.vat) body.set("vat", *charge.vat);
  if (charge.description) body.set("description", *charge.description);
  return Order(session_->resource({"POST", subscription_path(id) + "/order", {}, body.dump()}, call));
}

Pager<Order> Subscriptions::orders(const Id& id, const OrderQuery& query, const CallOptions& call) const {
  Query filters;
  if (query.per_page) {
    if (*query.per_page < 1 || *query.per_page > max_per_page) {
      throw Error(ErrorCode::invalid_argument,
                  "per_page is " + std::to_string(*query.per_page) + ": it must be from 1 to 200");
    }
    filters.emplace_back("per_page", std::to_string(*query.per_page));
  }
  if (query.product_id) filters.emplace_back("filter[product_id]", std::to_string(*query.product_id));
  if (!query.states.empty()) filters.emplace_back("filter[state]", joined(query.states));
  return pager<Order>(session_, subscription_path(id) + "/orders", std::move(filters), query.page, call);
}

Pager<Product> Products::list(const ProductQuery& query, const CallOptions& call) const {
  return pager<Product>(session_, "/products", {}, query.page, call);
}

Product Products::get(std::int64_t id, const CallOptions& call) const {
  return Product(session_->resource({"GET", product_path(id)}, call));
}

Product Products::update(std::int64_t id, const JsonObject& fields, const CallOptions& call) const {
  if (fields.empty()) {
    throw Error(ErrorCode::invalid_argument, "the update has no fields: pass at least one field to change");
  }
  return Product(session_->resource({"POST", product_path(id), {}, fields.dump()}, call));
}

void Products::remove(std::int64_t id, const CallOptions& call) const {
  static_cast<void>(session_->succeed({"DELETE", product_path(id)}, call));
}

Order Orders::get(const Id& id, const CallOptions& call) const {
  return Order(session_->resource({"GET", "/order/" + detail::path_segment(id)}, call));
}

Response WebhookEndpoints::create(std::string_view url, const CallOptions& call) const {
  if (std::any_of(url.begin(), url.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; })) {
    throw Error(ErrorCode::invalid_argument, "url has a line end or another control character in it");
  }
  JsonObject body;
  body.set("url", url);
  auto answer = session_->succeed({"POST", "/webhooks/endpoints", {}, body.dump()}, call);
  return {std::move(answer.info), std::move(answer.body)};
}

}  // namespace billcore
