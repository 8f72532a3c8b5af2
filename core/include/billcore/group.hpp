// The base class of the groups of operations (groups.hpp), and the operations that are not generated.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "billcore/error.hpp"
#include "billcore/json.hpp"
#include "billcore/model.hpp"
#include "billcore/options.hpp"
#include "billcore/values.hpp"

namespace billcore::detail {

class Session;
using SessionPtr = std::shared_ptr<Session>;

/// A group of operations of a client. Copies are cheap.
class Group {
 protected:
  explicit Group(SessionPtr session) noexcept : session_(std::move(session)) {}
  SessionPtr session_;
};

/// Base class of Subscriptions: the operations whose code is not generated.
class SubscriptionsByHand : protected Group {
 public:
  /// The orders that a charge of unknown outcome may have created: those of the subscription since the charge was sent,
  /// latest first. `error` is the charge's error. The search includes orders that are dated up to `skew` before the
  /// charge was sent (by the local clock or by the service's clock, whichever gives the earlier time). With
  /// `product_id`, only orders of that product are found. The charge's order has total = amount × quantity (cents
  /// without VAT). An empty result means that the charge was not made, or that the service is still processing it:
  /// search again after the longest time that the service may need to process a charge, and charge again only if that
  /// search is also empty. The time-out of `call` bounds the whole search.
  ///
  /// Throws Error(possibly_missed) if the search may have missed orders; detail().found has those that it found. Throws
  /// Error(invalid_argument) if `error` is not the error of a charge, or if that charge's outcome is known. Service
  /// interface: Endpoints, Subscriptions.
  [[nodiscard]] std::vector<Order> find_charges(const Error& error,
                                                std::chrono::microseconds skew = std::chrono::minutes(5),
                                                std::optional<std::int64_t> product_id = {},
                                                const CallOptions& call = {}) const;
  /// Finds the orders of a charge without its error, for example after a crash: the subscription's orders created at or
  /// after `since`, by the service's clock. `since` is rounded down to a whole second, because the service's times may
  /// be whole seconds.
  [[nodiscard]] std::vector<Order> find_charges(const Id& id, Instant since,
                                                std::optional<std::int64_t> product_id = {},
                                                const CallOptions& call = {}) const;

 protected:
  using Group::Group;
};

/// Base class of Products: the operation whose code is not generated.
class ProductsByHand : protected Group {
 public:
  /// Changes only the given fields (ProductWrite: name, description, price, currency, vat_rate, interval; other
  /// fields are accepted). Throws Error(invalid_argument) for an empty object. The client sends the request at most
  /// once. Service interface: ProductWrite; Endpoints, Products.
  Product update(std::int64_t id, const JsonObject& fields, const CallOptions& call = {}) const;

 protected:
  using Group::Group;
};

}  // namespace billcore::detail
