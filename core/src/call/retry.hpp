// Whether a request may be sent again, and after what wait. Decisions are pure; time, sleep and chance come from outside.
// Internal.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/clock.hpp"
#include "http/transfer.hpp"

namespace billcore::detail {

/// How far a call has come.
struct CallProgress {
  bool write = false;
  int made = 0;                                             // attempts, at least 1
  int max_retries = 0;                                      // further ones
  Deadline deadline = std::nullopt;                         // of the whole call
  std::optional<std::chrono::milliseconds> asked_for = {};  // Retry-After
};

inline constexpr auto first_backoff = std::chrono::milliseconds(250);
inline constexpr auto longest_backoff = std::chrono::milliseconds(8'000);
/// A service that asks for more than this is not waited for.
inline constexpr auto longest_wait = std::chrono::milliseconds(60'000);

/// How long to wait before the next attempt; nothing when there must be none. Exponential backoff with full jitter
/// (`chance` from 0 to 1), none at all when the connection was dead already, or what the service asks for. A wait that
/// does not fit into the deadline is not begun.
[[nodiscard]] std::optional<std::chrono::milliseconds> wait_before_next(const CallProgress& tries,
                                                                        const Transfer& transfer,
                                                                        SteadyClock::time_point now,
                                                                        double chance) noexcept;

/// What the Retry-After among these header lines asks for: seconds, or an HTTP date, which is compared with the answer's
/// own Date when it has one (the clocks may differ), else with `now_unix`. Nothing when it cannot be read.
[[nodiscard]] std::optional<std::chrono::milliseconds> retry_after(std::string_view head, std::int64_t now_unix);

[[nodiscard]] std::int64_t unix_seconds() noexcept;

/// Shared by the threads of a client: after a 429 all of them wait. Threads: any, without a lock.
class Throttle {
 public:
  /// Nobody sends before then.
  void hold_until(SteadyClock::time_point when) noexcept;
  /// How long a request that wants to be sent now must wait; zero when it need not, or could not within its deadline.
  [[nodiscard]] std::chrono::milliseconds wait(SteadyClock::time_point now, const Deadline& deadline) const noexcept;

 private:
  std::atomic<SteadyClock::rep> until_{SteadyClock::time_point::min().time_since_epoch().count()};
};

/// What the retries take from outside.
struct RetryEnvironment {
  std::function<SteadyClock::time_point()> now = nullptr;  // empty: the clock
  /// Waits, in place of the engine's timers.
  std::function<void(std::chrono::milliseconds)> sleep = nullptr;
  std::function<double()> chance = nullptr;  // from 0 to 1; empty: random
};
/// With what is empty filled in, but for `sleep`.
[[nodiscard]] RetryEnvironment complete_environment(RetryEnvironment given);

}  // namespace billcore::detail
