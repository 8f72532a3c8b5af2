// What a 429 does to the other calls of a client. Internal.
#pragma once

#include <atomic>
#include <chrono>

#include "base/clock.hpp"

namespace billcore::detail {

/// Shared by all threads of a client: after a 429 all of them wait. Threads: any, lock-free.
class Throttle {
 public:
  /// No request is sent before `when`.
  void hold_until(SteadyClock::time_point when) noexcept;
  /// Delay before a request may be sent; zero if there is none or it would exceed the deadline.
  [[nodiscard]] std::chrono::milliseconds wait(SteadyClock::time_point now, const Deadline& deadline) const noexcept;

 private:
  std::atomic<SteadyClock::rep> until_{SteadyClock::time_point::min().time_since_epoch().count()};
};

}  // namespace billcore::detail
