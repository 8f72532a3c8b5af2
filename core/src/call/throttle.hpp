// After an answer with status 429, delays all other calls of the client. Internal.
#pragma once

#include <atomic>
#include <chrono>

#include "base/clock.hpp"

namespace billcore::detail {

/// Holds back the requests of all threads that share a client after a 429. Threads: any, lock-free.
class Throttle {
 public:
  /// Holds back requests until `when`.
  void hold_until(SteadyClock::time_point when) noexcept;
  /// Delay before a request may be sent; zero if there is none or it would exceed the deadline.
  [[nodiscard]] std::chrono::milliseconds wait(SteadyClock::time_point now, const Deadline& deadline) const noexcept;

 private:
  std::atomic<SteadyClock::rep> until_{SteadyClock::time_point::min().time_since_epoch().count()};
};

}  // namespace billcore::detail
