// The clocks for deadlines and send times. Internal.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "billcore/values.hpp"

namespace billcore::detail {

/// Like std::chrono::steady_clock, but also counts the time while the machine is suspended (CLOCK_BOOTTIME): a sleeping
/// laptop or a paused virtual machine must not postpone a deadline. Like steady_clock, this clock is read without a
/// system call.
struct SteadyClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<SteadyClock>;
  static constexpr bool is_steady = true;

  [[nodiscard]] static time_point now() noexcept {
    timespec time{};
    clock_gettime(CLOCK_BOOTTIME, &time);
    return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
  }
};
using Deadline = std::optional<SteadyClock::time_point>;

/// The time at which a request was sent. `steady` can be compared with other times of this process, even if the wall
/// clock is changed.
struct SendTime {
  Instant utc = {};
  SteadyClock::time_point steady = {};
};

/// The time of the kernel's last tick, in milliseconds. Reading this clock takes a quarter of the time that reading
/// an exact clock takes.
[[nodiscard]] inline std::int64_t coarse_milliseconds() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace billcore::detail
