// The search for the orders that a charge of unknown outcome may have made.
//
// Subscriptions::find_charges() does all of this in one blocking call. A ChargeSearch is for callers that send the
// requests themselves: send what next() gives, hand the result to take(), and repeat until next() gives nothing.
// Service interface: Endpoints, Subscriptions.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "billcore/error.hpp"
#include "billcore/json.hpp"
#include "billcore/model.hpp"
#include "billcore/operations.hpp"
#include "billcore/response.hpp"
#include "billcore/values.hpp"

namespace billcore {

/// Reads the orders of a subscription, latest first, back to an instant. The result is complete if one page reaches an
/// older order or is the only one; otherwise the pages are read again until two readings in a row are equal. Threads:
/// one at a time.
class ChargeSearch {
 public:
  /// How the service's clock is behind the local one: `known` if `since` already accounts for it; else it is taken from
  /// the Date of the first answer.
  enum class Clock : std::uint8_t { known, from_first_answer };

  /// since: UTC; orders created before the second of `since` are too old.
  ChargeSearch(ListOperation orders, Instant since, Clock clock);

  /// Bounds the whole search to `timeout` from now on; no_timeout: no bound. Error(invalid_argument) if it is not more
  /// than 0.
  void limit(std::chrono::milliseconds timeout);
  /// What is left of it, at least 1 ms, for the request of next().
  [[nodiscard]] std::chrono::milliseconds time_left() const;
  /// The request to send now; nullopt when result() is available.
  [[nodiscard]] std::optional<Operation> next();
  /// Takes the answer to that request. Throws its error if no page has been read yet.
  void take(Completed& completed);
  /// The same for a page that is known to be a list. Throws Error(pagination) for one that contradicts itself.
  void take(const std::shared_ptr<const detail::Document>& page);
  /// The orders, latest first. Error(possibly_missed) with those found so far if there is no proof that they are all.
  [[nodiscard]] std::vector<Order> result() const;

 private:
  [[nodiscard]] bool has_read() const noexcept { return readings_ > 0 || reading_.pages > 0; }

  struct Reading {
    std::int64_t pages = 0;
    std::int64_t items = 0;
    std::optional<std::int64_t> total;
    bool reached = false;  // an order that is too old
    bool moved = false;    // the list changed between two pages
    std::unordered_set<std::string> ids;
    std::string trace;  // ids and totals as received, to compare with another reading
    std::vector<Value> found;
  };

  void take_items(const Value& data);
  void end_reading();
  void give_up(ErrorCode cause, std::string why);
  void adjust_clock(const detail::Document& page);

  ListOperation orders_;
  Instant since_;
  Clock clock_;
  std::optional<std::int64_t> deadline_;  // steady clock, microseconds
  int readings_ = 0;                      // finished
  Reading reading_;
  std::string previous_;                 // trace of the reading before
  std::vector<Value> found_;             // in any reading
  std::unordered_set<std::string> ids_;  // of found_
  bool done_ = false;
  ErrorCode cause_ = ErrorCode::ok;  // why there is no proof
  std::string why_;
};

namespace operations {

/// error: from a charge of unknown outcome, else Error(invalid_argument). skew: how far an order's time may be before
/// the charge was sent. product_id: only orders of this product.
[[nodiscard]] ChargeSearch find_charges(const Error& error, std::chrono::microseconds skew,
                                        std::optional<std::int64_t> product_id);
/// since: UTC, by the service's clock; rounded down to a whole second.
[[nodiscard]] ChargeSearch find_charges(const Id& subscription, Instant since, std::optional<std::int64_t> product_id);

}  // namespace operations

}  // namespace billcore
