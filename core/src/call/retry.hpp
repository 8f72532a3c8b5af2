// Decides whether a request may be sent again, after which delay, and what a 429 means for other requests. The decisions
// are pure functions; clock, sleep and randomness are injected. Internal.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/clock.hpp"
#include "http/transfer.hpp"

namespace billcore::detail {

/// Whether the request may be sent again after this transfer: by the table of failures in rules.cpp, or the statuses of
/// errors.toml.
[[nodiscard]] bool may_repeat(bool write, const Transfer& transfer) noexcept;

/// Progress of a call.
struct CallProgress {
  bool write = false;
  int made = 0;                                             // attempts so far, at least 1
  int max_retries = 0;                                      // maximum number of further attempts
  Deadline deadline = std::nullopt;                         // deadline of the whole call
  std::optional<std::chrono::milliseconds> asked_for = {};  // delay from the Retry-After header
};

inline constexpr auto first_backoff = std::chrono::milliseconds(250);
inline constexpr auto longest_backoff = std::chrono::milliseconds(8'000);
/// Longest delay before a retry: if the service requests a longer delay, the call is not retried.
inline constexpr auto longest_wait = std::chrono::milliseconds(60'000);

/// Delay before the next attempt; nullopt if no further attempt is allowed, or if the delay would exceed the deadline.
/// The delay is that of the answer's Retry-After header, else exponential backoff with full jitter (`chance` from 0 to
/// 1). The first retry after a reused connection was found dead, or after HTTP/2 refused the request, has no backoff,
/// nor has a retry over HTTP/1.1 that the service asked for.
[[nodiscard]] std::optional<std::chrono::milliseconds> wait_before_next(const CallProgress& tries,
                                                                        const Transfer& transfer,
                                                                        SteadyClock::time_point now,
                                                                        double chance) noexcept;

/// How long the client holds back its other requests after a call got a 429: `own`, the delay before the next attempt of
/// that call; if it has none, the delay that the service asked for, or else the first delay. At most longest_wait.
[[nodiscard]] std::chrono::milliseconds hold_after_429(std::optional<std::chrono::milliseconds> own,
                                                       std::optional<std::chrono::milliseconds> asked_for) noexcept;

/// Maximum number of pages of a list in flight, after a page: half as many after a 429, otherwise one more. `now` is
/// the number in flight.
[[nodiscard]] std::int64_t allowed_pages(std::int64_t allowed, std::int64_t now, bool was_limited) noexcept;

/// Delay from a Retry-After header: seconds, or an HTTP date. The delay until a date is counted from the answer's own
/// Date header, because the clocks may differ; without that header, from `now_unix`. nullopt if Retry-After is absent
/// or unreadable.
[[nodiscard]] std::optional<std::chrono::milliseconds> retry_after(std::string_view head, std::int64_t now_unix);

[[nodiscard]] std::int64_t unix_seconds() noexcept;

/// Clock, sleep and randomness, injectable for tests.
struct RetryEnvironment {
  std::function<SteadyClock::time_point()> now = nullptr;  // default: SteadyClock
  /// If set, a call sleeps with this function instead of using the engine's timers.
  std::function<void(std::chrono::milliseconds)> sleep = nullptr;
  std::function<double()> chance = nullptr;  // returns a number from 0 to 1; default: a random number
};
/// Sets each unset member to its default; only `sleep` stays unset.
[[nodiscard]] RetryEnvironment complete_environment(RetryEnvironment given);

}  // namespace billcore::detail
