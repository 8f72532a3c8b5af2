// The REST client: the twelve operations of the service. Safe reads are retried (ClientOptions::max_retries); a write
// is sent at most once.
//
// A Client and its groups share one set of connections; copies are cheap. Threads: any number of threads may use a
// Client at once. Errors: billcore::Error; for a write it says whether the write may have happened (outcome_unknown).
// Service interface: Endpoints; Authentication; Errors.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "billcore/error.hpp"
#include "billcore/model.hpp"
#include "billcore/operation.hpp"
#include "billcore/options.hpp"
#include "billcore/pager.hpp"
#include "billcore/response.hpp"
#include "billcore/values.hpp"

namespace billcore {

namespace detail {
class Session;
using SessionPtr = std::shared_ptr<Session>;

/// A group of operations of a client. Copies are cheap.
class Group {
 protected:
  explicit Group(SessionPtr session) noexcept : session_(std::move(session)) {}
  SessionPtr session_;
};
}  // namespace detail

class Subscriptions : detail::Group {
 public:
  [[nodiscard]] Pager<Subscription> list(const SubscriptionQuery& query = {}, const CallOptions& call = {}) const;
  [[nodiscard]] Subscription get(const Id& id, const CallOptions& call = {}) const;
  /// Stops billing at once; the subscription may stay active until ends_at. Sent at most once.
  Subscription cancel(const Id& id, const CallOptions& call = {}) const;
  /// Replaces the product. Sent at most once.
  Subscription change_product(const Id& id, std::int64_t product_id, const CallOptions& call = {}) const;
  /// Bills a one-off amount through the subscription's billing method. Sent at most once. Error(payment) when the
  /// charge is refused, Error(outcome_unknown) when it may or may not have been made: call find_charges() before
  /// charging again.
  Order charge(const Id& id, const Charge& charge, const CallOptions& call = {}) const;
  /// The subscription's orders, latest first.
  [[nodiscard]] Pager<Order> orders(const Id& id, const OrderQuery& query = {}, const CallOptions& call = {}) const;
  /// The orders that a charge of unknown outcome may have created: those of the subscription since the charge was sent,
  /// latest first. error: the charge's error. skew: how much earlier the time of its order may be than the earlier of
  /// the two clocks, the local one and the service's, when the charge was sent. product_id: only orders of this product.
  /// The charge's order has total = amount × quantity (cents without VAT). An empty result means that the charge was not
  /// made, or that the service is still processing it: search again after the time that it may need, and charge again
  /// only when the later search is also empty. Error(possibly_missed) when orders may be missing, with those found so
  /// far in detail().found. Error(invalid_argument) if `error` is not from a charge or its outcome is known. The
  /// time-out of `call` bounds the whole search.
  [[nodiscard]] std::vector<Order> find_charges(const Error& error,
                                                std::chrono::microseconds skew = std::chrono::minutes(5),
                                                std::optional<std::int64_t> product_id = {},
                                                const CallOptions& call = {}) const;
  /// The same without an error, for example after a crash: the subscription's orders created at or after `since`, by
  /// the service's clock. `since` is rounded down to a whole second, because the service's times may be whole seconds.
  [[nodiscard]] std::vector<Order> find_charges(const Id& id, Instant since,
                                                std::optional<std::int64_t> product_id = {},
                                                const CallOptions& call = {}) const;

 private:
  friend class Client;
  using Group::Group;
};

class Products : detail::Group {
 public:
  [[nodiscard]] Pager<Product> list(const ProductQuery& query = {}, const CallOptions& call = {}) const;
  [[nodiscard]] Product get(std::int64_t id, const CallOptions& call = {}) const;
  /// Changes only the given fields (ProductWrite: name, description, price, currency, vat_rate, interval; others are
  /// accepted). Error(invalid_argument) for an empty object. Sent at most once.
  Product update(std::int64_t id, const JsonObject& fields, const CallOptions& call = {}) const;
  /// Soft delete. Sent at most once; the body of the answer is not checked.
  void remove(std::int64_t id, const CallOptions& call = {}) const;

 private:
  friend class Client;
  using Group::Group;
};

class Orders : detail::Group {
 public:
  [[nodiscard]] Order get(const Id& id, const CallOptions& call = {}) const;

 private:
  friend class Client;
  using Group::Group;
};

class WebhookEndpoints : detail::Group {
 public:
  /// Registers a URL. The answer does not contain the secret: copy it from the admin UI. Sent at most once.
  Response create(std::string_view url, const CallOptions& call = {}) const;

 private:
  friend class Client;
  using Group::Group;
};

class Client {
 public:
  /// Does not connect yet. Error(config) for an invalid option.
  explicit Client(ClientOptions options);

  [[nodiscard]] Subscriptions subscriptions() const { return Subscriptions(session_); }
  [[nodiscard]] Products products() const { return Products(session_); }
  [[nodiscard]] Orders orders() const { return Orders(session_); }
  [[nodiscard]] WebhookEndpoints webhook_endpoints() const { return WebhookEndpoints(session_); }
  /// method: GET, POST, PUT, PATCH or DELETE. path: below the base URL, starts with a slash, already encoded. Every
  /// method except GET is a write: sent at most once.
  Response request(std::string_view method, std::string_view path, const RequestOptions& options = {},
                   const CallOptions& call = {}) const;
  /// A client with these options changed that shares everything else, including the connections. Error(config).
  [[nodiscard]] Client with_options(const ClientChanges& changes) const;
  /// Closes idle connections; calls in flight finish, later calls throw Error(config). A client made by with_options()
  /// does not own the connections: it leaves them open and returns false.
  bool close() noexcept;

 private:
  friend class AsyncClient;
  friend struct internal::Access;
  Client(const Client& original, const ClientChanges& changes);
  detail::SessionPtr session_;
};

}  // namespace billcore
