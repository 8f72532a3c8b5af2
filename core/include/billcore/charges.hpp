// The search for the orders that a charge of unknown outcome may have created.
//
// Subscriptions::find_charges() runs the whole search in one blocking call. A ChargeSearch is for callers that send the
// requests themselves: send the request from next(), pass the result to take(), and repeat until next() returns
// nullopt. Service interface: Endpoints, Subscriptions.
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

/// Reads the orders of a subscription, latest first, back to the instant `since`. The result is complete if the first
/// page contains an order from before `since` or is the only page; otherwise the pages are read again until two
/// consecutive passes give the same orders. Threads: one at a time.
class ChargeSearch {
 public:
  /// known: `since` is already a time on the service's clock. from_first_answer: `since` is a time on the local
  /// clock, and the search adjusts it with the Date header of the first answer.
  enum class Clock : std::uint8_t { known, from_first_answer };

  /// `since` is in UTC and is rounded down to a whole second. The search ignores orders created before `since`.
  ChargeSearch(ListOperation orders, Instant since, Clock clock);

  /// Ends the search at the latest `timeout` from now; no_timeout removes the limit. Throws Error(invalid_argument) if
  /// `timeout` is not more than 0.
  void limit(std::chrono::milliseconds timeout);
  /// The time left until the limit that limit() set, at least 1 ms: use it as the time-out of the request from next().
  [[nodiscard]] std::chrono::milliseconds time_left() const;
  /// The request to send now; nullopt when result() is available.
  [[nodiscard]] std::optional<Operation> next();
  /// Takes the answer to the request that next() returned. If the request failed and no page has been read yet, throws
  /// the request's error.
  void take(Completed& completed);
  /// Takes a page that was already checked to be a list. Throws Error(pagination) if the fields of the page contradict
  /// each other.
  void take(const std::shared_ptr<const detail::Document>& page);
  /// The orders found, latest first. Throws Error(possibly_missed), which contains the orders found, unless the
  /// search has proved that it found every order.
  [[nodiscard]] std::vector<Order> result() const;

 private:
  [[nodiscard]] bool has_read() const noexcept { return readings_ > 0 || reading_.pages > 0; }

  struct Reading {
    std::int64_t pages = 0;
    std::int64_t items = 0;
    std::optional<std::int64_t> total;
    bool reached = false;  // the pass has reached an order created before `since`
    bool moved = false;    // the list changed between two pages
    std::unordered_set<std::string> ids;
    std::string trace;  // ids and totals as received, to compare with another pass
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
  int readings_ = 0;                      // number of finished passes
  Reading reading_;
  std::string previous_;                 // Reading::trace of the previous pass
  std::vector<Value> found_;             // orders found in any pass
  std::unordered_set<std::string> ids_;  // ids of found_
  bool done_ = false;
  ErrorCode cause_ = ErrorCode::ok;  // why the search cannot prove that it found every order
  std::string why_;
};

namespace operations {

/// Begins a search after a charge of unknown outcome; any other `error` gives Error(invalid_argument). The search
/// covers orders dated up to `skew` before the charge was sent, and with `product_id` only orders of that product.
[[nodiscard]] ChargeSearch find_charges(const Error& error, std::chrono::microseconds skew,
                                        std::optional<std::int64_t> product_id);
/// Begins a search without the charge's error. `since` is a UTC time on the service's clock, rounded down to a whole
/// second.
[[nodiscard]] ChargeSearch find_charges(const Id& subscription, Instant since, std::optional<std::int64_t> product_id);

}  // namespace operations

}  // namespace billcore
