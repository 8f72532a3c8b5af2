#include "call/retry.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string_view>

#include "call/rules.hpp"
#include "http/head.hpp"
#include "http/libcurl.hpp"

namespace billcore::detail {
namespace {

using std::chrono::milliseconds;

milliseconds whole(double seconds) noexcept {
  constexpr double most = 1e9;
  return milliseconds(static_cast<std::int64_t>(std::ceil(std::clamp(seconds, 0.0, most) * 1000)));
}

// Lock-free random numbers: a SplitMix64 counter with a random seed.
class Chance {
 public:
  double operator()() noexcept {
    auto bits = counter_.fetch_add(0x9E3779B97F4A7C15U, std::memory_order_relaxed);
    bits = (bits ^ bits >> 30U) * 0xBF58476D1CE4E5B9U;
    bits = (bits ^ bits >> 27U) * 0x94D049BB133111EBU;
    return static_cast<double>((bits ^ bits >> 31U) >> 11U) * 0x1p-53;
  }

 private:
  std::atomic<std::uint64_t> counter_{std::uint64_t{std::random_device{}()} << 32U | std::random_device{}()};
};

// Whether a further attempt makes sense at once, because the failure says nothing about the service's health.
bool goes_on_at_once(const CallProgress& tries, const Transfer& transfer) noexcept {
  if (transfer.failure == Failure::http1_required) return true;
  return tries.made == 1 && (transfer.died_on_reuse || transfer.failure == Failure::refused);
}

}  // namespace

bool may_repeat(bool write, const Transfer& transfer) noexcept {
  if (transfer.breaks_off) return !write;
  const auto repeat =
      transfer.failure == Failure::none ? rule_of(transfer.status).repeat : rule_of(transfer.failure).repeat;
  switch (repeat) {
    case Repeat::never:
      return false;
    case Repeat::read:
      return !write;
    case Repeat::unless_received:
      return !write || !transfer.sent;
    case Repeat::unless_sent:
      return !transfer.sent;
  }
  return false;
}

std::optional<milliseconds> wait_before_next(const CallProgress& tries, const Transfer& transfer,
                                             SteadyClock::time_point now, double chance) noexcept {
  if (tries.made > tries.max_retries || !may_repeat(tries.write, transfer)) return std::nullopt;
  milliseconds wait{0};
  if (tries.asked_for) {
    wait = *tries.asked_for;
    if (wait > longest_wait) return std::nullopt;
  } else if (!goes_on_at_once(tries, transfer)) {
    const int doubled = std::min(tries.made - 1, 10);
    const auto most = std::min<milliseconds>(first_backoff * (1 << doubled), longest_backoff);
    wait = milliseconds(static_cast<std::int64_t>(static_cast<double>(most.count()) * std::clamp(chance, 0.0, 1.0)));
  }
  if (tries.deadline && now + wait >= *tries.deadline) return std::nullopt;
  return wait;
}

milliseconds hold_after_429(std::optional<milliseconds> own, std::optional<milliseconds> asked_for) noexcept {
  return std::min<milliseconds>(own.value_or(asked_for.value_or(first_backoff)), longest_wait);
}

std::int64_t allowed_pages(std::int64_t allowed, std::int64_t now, bool was_limited) noexcept {
  if (was_limited) return std::max<std::int64_t>(1, std::min(allowed, now) / 2);
  return allowed < std::numeric_limits<std::int64_t>::max() ? allowed + 1 : allowed;
}

std::optional<milliseconds> retry_after(std::string_view head, std::int64_t now_unix) {
  const auto value = find_header(head, "retry-after");
  double seconds = 0;
  const char* const end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, seconds);
  if (read.ec == std::errc() && read.ptr == end && std::isfinite(seconds)) {
    if (seconds < 0) return std::nullopt;
    return whole(seconds);
  }
  const auto when = parse_http_date(value);
  if (!when) return std::nullopt;
  return whole(static_cast<double>(*when - parse_http_date(find_header(head, "date")).value_or(now_unix)));
}

std::int64_t unix_seconds() noexcept {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

RetryEnvironment complete_environment(RetryEnvironment given) {
  if (!given.now) given.now = [] { return SteadyClock::now(); };
  if (!given.chance) given.chance = [own = std::make_shared<Chance>()] { return (*own)(); };
  return given;
}

}  // namespace billcore::detail
