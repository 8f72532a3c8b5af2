#include "call/service_clock.hpp"

#include <chrono>
#include <new>

#include "http/head.hpp"
#include "http/libcurl.hpp"

namespace billcore::detail {
namespace {

constexpr std::int64_t interval = 1000;  // milliseconds
constexpr std::int64_t micros_per_second = 1'000'000;

std::int64_t micros(SteadyClock::time_point when) noexcept {
  return std::chrono::duration_cast<std::chrono::microseconds>(when.time_since_epoch()).count();
}

}  // namespace

void ServiceClock::note(std::string_view head) noexcept try {
  const auto now = coarse_milliseconds();
  const auto last = noted_.load(std::memory_order_relaxed);
  if (last != 0 && now - last < interval) return;
  const auto date = parse_http_date(find_header(head, "date"));
  if (!date) return;
  ahead_.store(*date * micros_per_second - micros(SteadyClock::now()), std::memory_order_relaxed);
  noted_.store(now, std::memory_order_relaxed);
} catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): out of memory: use the next answer's date
}

std::optional<Instant> ServiceClock::at(SteadyClock::time_point when) const noexcept {
  const auto ahead = ahead_.load(std::memory_order_relaxed);
  if (ahead == unknown) return std::nullopt;
  return Instant(std::chrono::microseconds(micros(when) + ahead));
}

}  // namespace billcore::detail
