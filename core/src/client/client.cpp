#include "billcore/client.hpp"

#include <utility>

#include "billcore/charges.hpp"
#include "call/session.hpp"
#include "client/lists.hpp"

namespace billcore {
namespace {

template <typename T, typename Query>
Pager<T> pager(const detail::SessionPtr& session, ListOperation&& list, const Query& query, const CallOptions& call) {
  return Pager<T>(
      detail::blocking_list(session, std::move(list), {query.page, 1, query.strict, query.resume, 0, {}}, call));
}

std::vector<Order> found_charges(detail::Session& session, ChargeSearch search, CallOptions call) {
  search.limit(call.timeout.value_or(session.settings().options.timeout));
  while (const auto page = search.next()) {
    call.timeout = search.time_left();
    session.send(*page, call, [&search](Completed& completed) { search.take(completed); });
  }
  return search.result();
}

}  // namespace

Pager<Subscription> Subscriptions::list(const SubscriptionQuery& query, const CallOptions& call) const {
  return pager<Subscription>(session_, operations::list_subscriptions(query), query, call);
}

Subscription Subscriptions::get(const Id& id, const CallOptions& call) const {
  return Subscription(session_->resource(operations::get_subscription(id), call));
}

Subscription Subscriptions::cancel(const Id& id, const CallOptions& call) const {
  return Subscription(session_->resource(operations::cancel_subscription(id), call));
}

Subscription Subscriptions::change_product(const Id& id, std::int64_t product_id, const CallOptions& call) const {
  return Subscription(session_->resource(operations::change_subscription_product(id, product_id), call));
}

Order Subscriptions::charge(const Id& id, const Charge& charge, const CallOptions& call) const {
  return Order(session_->resource(operations::charge_subscription(id, charge), call));
}

Pager<Order> Subscriptions::orders(const Id& id, const OrderQuery& query, const CallOptions& call) const {
  return pager<Order>(session_, operations::list_orders(id, query), query, call);
}

std::vector<Order> Subscriptions::find_charges(const Error& error, std::chrono::microseconds skew,
                                               std::optional<std::int64_t> product_id, const CallOptions& call) const {
  return found_charges(*session_, operations::find_charges(error, skew, product_id), call);
}

std::vector<Order> Subscriptions::find_charges(const Id& id, Instant since, std::optional<std::int64_t> product_id,
                                               const CallOptions& call) const {
  return found_charges(*session_, operations::find_charges(id, since, product_id), call);
}

Pager<Product> Products::list(const ProductQuery& query, const CallOptions& call) const {
  return pager<Product>(session_, operations::list_products(), query, call);
}

Product Products::get(std::int64_t id, const CallOptions& call) const {
  return Product(session_->resource(operations::get_product(id), call));
}

Product Products::update(std::int64_t id, const JsonObject& fields, const CallOptions& call) const {
  return Product(session_->resource(operations::update_product(id, fields), call));
}

void Products::remove(std::int64_t id, const CallOptions& call) const {
  static_cast<void>(session_->response(operations::delete_product(id), true, call));
}

Order Orders::get(const Id& id, const CallOptions& call) const {
  return Order(session_->resource(operations::get_order(id), call));
}

Response WebhookEndpoints::create(std::string_view url, const CallOptions& call) const {
  return session_->response(operations::create_webhook_endpoint(url), true, call);
}

Client::Client(ClientOptions options) : session_(std::make_shared<detail::Session>(std::move(options))) {}

Client::Client(const Client& original, const ClientChanges& changes)
    : session_(std::make_shared<detail::Session>(*original.session_, changes)) {}

Client Client::with_options(const ClientChanges& changes) const { return {*this, changes}; }

bool Client::close() noexcept { return session_->close(); }

Response Client::request(std::string_view method, std::string_view path, const RequestOptions& options,
                         const CallOptions& call) const {
  return session_->response(operations::request(method, path, options), options.raise_on_error, call);
}

}  // namespace billcore
