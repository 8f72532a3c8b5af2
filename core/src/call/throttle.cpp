#include "call/throttle.hpp"

namespace billcore::detail {

using std::chrono::milliseconds;

void Throttle::hold_until(SteadyClock::time_point when) noexcept {
  const auto wanted = when.time_since_epoch().count();
  auto current = until_.load(std::memory_order_relaxed);
  while (current < wanted && !until_.compare_exchange_weak(current, wanted, std::memory_order_relaxed)) {
  }
}

milliseconds Throttle::wait(SteadyClock::time_point now, const Deadline& deadline) const noexcept {
  const SteadyClock::time_point until{SteadyClock::duration(until_.load(std::memory_order_relaxed))};
  if (until <= now || (deadline && until >= *deadline)) return milliseconds(0);
  return std::chrono::ceil<milliseconds>(until - now);
}

}  // namespace billcore::detail
