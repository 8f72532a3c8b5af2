// After an answer with status 429, delays the client's further requests. Internal.
#pragma once

#include <atomic>
#include <chrono>

#include "base/clock.hpp"

namespace billcore::detail {

/// After an answer with status 429, delays the requests of all threads that share a client. Threads: any, lock-free.
class Throttle {
 public:
  /// Delays further requests until `when`.
  void hold_until(SteadyClock::time_point when) noexcept;
  /// Delay before a request may be sent; zero if no delay is needed, or if the delay would exceed the deadline.
  [[nodiscard]] std::chrono::milliseconds wait(SteadyClock::time_point now, const Deadline& deadline) const noexcept;

 private:
  std::atomic<SteadyClock::rep> until_{SteadyClock::time_point::min().time_since_epoch().count()};
};

}  // namespace billcore::detail
