// The service's clock, estimated from the Date headers of its answers. Internal.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "base/clock.hpp"

namespace billcore::detail {

/// Compares the Date header of answers with the steady clock. Threads: any, lock-free.
class ServiceClock {
 public:
  /// `head` has the header lines of an answer that has just arrived. Reads the Date header at most once a second.
  void note(std::string_view head) noexcept;
  /// Estimates the service's time at `when`; the estimate is never later than the time that the service's clock showed
  /// at that moment. nullopt before the first answer with a Date.
  [[nodiscard]] std::optional<Instant> at(SteadyClock::time_point when) const noexcept;

 private:
  static constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::min();
  std::atomic<std::int64_t> ahead_{unknown};  // service's clock minus steady clock, in microseconds
  std::atomic<std::int64_t> noted_{0};        // coarse_milliseconds() at the last update
};

}  // namespace billcore::detail
