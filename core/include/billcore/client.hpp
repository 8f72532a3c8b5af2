// The REST client: twelve operations of the service. Reads are repeated where that may help (ClientOptions::max_retries);
// a write is sent at most once.
//
// Client and the groups it hands out share one set of connections; copies are cheap. Threads: a Client may be used by
// any number of threads at once. Errors: billcore::Error; those of a write say whether it may have happened
// (outcome_unknown). Service interface: Endpoints; Authentication; Errors.
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
  /// Ends billing at once; the subscription may stay active until ends_at. Sent at most once.
  Subscription cancel(const Id& id, const CallOptions& call = {}) const;
  /// Swaps the product. Sent at most once.
  Subscription change_product(const Id& id, std::int64_t product_id, const CallOptions& call = {}) const;
  /// Bills a one-off amount through the subscription's billing method. Sent at most once; Error(payment) when it is
  /// refused, Error(outcome_unknown) when it may or may not have been made: see find_charges() before charging again.
  Order charge(const Id& id, const Charge& charge, const CallOptions& call = {}) const;
  /// The subscription's orders, latest first.
  [[nodiscard]] Pager<Order> orders(const Id& id, const OrderQuery& query = {}, const CallOptions& call = {}) const;
  /// The orders that a charge of unknown outcome may have made: the subscription's since the charge was sent, latest
  /// first. error: of the charge. skew: by how much the service's clock may be behind this machine's. Empty: the charge
  /// was not made, or not yet: the service may still work on it. Error(invalid_argument) for the error of anything else,
  /// and for one whose outcome is known. `call` holds for each page.
  [[nodiscard]] std::vector<Order> find_charges(const Error& error,
                                                std::chrono::microseconds skew = std::chrono::minutes(5),
                                                const CallOptions& call = {}) const;
  /// The same without an error, such as after a crash: the subscription's orders that were not made before `since` (by the
  /// service's clock; it counts from the beginning of its second, for the service's times may be whole
  /// seconds).
  [[nodiscard]] std::vector<Order> find_charges(const Id& id, Instant since, const CallOptions& call = {}) const;

 private:
  friend class Client;
  using Group::Group;
};

class Products : detail::Group {
 public:
  [[nodiscard]] Pager<Product> list(const ProductQuery& query = {}, const CallOptions& call = {}) const;
  [[nodiscard]] Product get(std::int64_t id, const CallOptions& call = {}) const;
  /// Changes the given fields only (ProductWrite: name, description, price, currency, vat_rate, interval; others are
  /// accepted). No field at all is Error(invalid_argument). Sent at most once.
  Product update(std::int64_t id, const JsonObject& fields, const CallOptions& call = {}) const;
  /// Soft deletion. Sent at most once; any body of the answer is accepted.
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
  /// Registers a URL. The secret is not in the answer: it is read from the admin UI. Sent at most once.
  Response create(std::string_view url, const CallOptions& call = {}) const;

 private:
  friend class Client;
  using Group::Group;
};

class Client {
 public:
  /// Connects to nothing yet. Error(config) when an option cannot work.
  explicit Client(ClientOptions options);

  [[nodiscard]] Subscriptions subscriptions() const { return Subscriptions(session_); }
  [[nodiscard]] Products products() const { return Products(session_); }
  [[nodiscard]] Orders orders() const { return Orders(session_); }
  [[nodiscard]] WebhookEndpoints webhook_endpoints() const { return WebhookEndpoints(session_); }
  /// method: GET, POST, PUT, PATCH or DELETE. path: below the base URL, begins with a slash, already encoded.
  /// Everything but GET is a write: sent at most once.
  Response request(std::string_view method, std::string_view path, const RequestOptions& options = {},
                   const CallOptions& call = {}) const;
  /// A client that differs in these options and shares everything else, connections included. Error(config).
  [[nodiscard]] Client with_options(const ClientChanges& changes) const;
  /// Closes idle connections; calls under way finish, later ones are Error(config). A client made by with_options()
  /// leaves the connections to the one it was made from, and says false.
  bool close() noexcept;

 private:
  friend class AsyncClient;
  friend struct internal::Access;
  Client(const Client& original, const ClientChanges& changes);
  detail::SessionPtr session_;
};

}  // namespace billcore
