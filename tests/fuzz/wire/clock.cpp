#include "clock.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "support.hpp"

namespace billcore::fuzz {
namespace {

World* running = nullptr;
std::int64_t now = 1'000'000'000;
std::uint64_t waited = 0;

std::set<int>& descriptors() {
  static std::set<int> connected;
  return connected;
}

std::map<int, std::int64_t>& timers() {
  static std::map<int, std::int64_t> due_at;  // maps each timerfd descriptor to its expiry time
  return due_at;
}

// Makes the kernel fire each timer that has expired by the simulated clock, which the kernel does not use.
void fire_timers() {
  for (auto each = timers().begin(); each != timers().end();) {
    const auto [descriptor, due] = *each;
    if (due > now) {
      ++each;
      continue;
    }
    itimerspec at_once{};
    at_once.it_value.tv_nsec = 1;
    syscall(SYS_timerfd_settime, descriptor, TFD_TIMER_ABSTIME, &at_once, nullptr);
    each = timers().erase(each);
    require(really_polls(descriptor, POLLIN, 1000), "an expired timer is readable");
  }
}

std::optional<std::int64_t> next_timer() {
  std::optional<std::int64_t> first;
  for (const auto& [descriptor, due] : timers()) first = std::min(first.value_or(due), due);
  return first;
}

int real_poll(pollfd* states, nfds_t count, int milliseconds) noexcept {
  return static_cast<int>(syscall(SYS_poll, states, count, milliseconds));
}

}  // namespace

Running::Running(World& world) {
  constexpr std::int64_t second = 1'000'000;
  now = (now / second + 1) * second;  // starts at a whole second, because libcurl rounds times to milliseconds
  descriptors().clear();
  timers().clear();
  running = &world;
}
Running::~Running() { running = nullptr; }

std::int64_t clock_micros() noexcept { return now; }
void pass(std::int64_t micros) noexcept { now += micros; }
std::uint64_t waits() noexcept { return waited; }

int connected_from(int port) noexcept {
  for (const int descriptor : descriptors()) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) continue;
    if (ntohs(address.sin_port) == port) return descriptor;
  }
  return -1;
}

bool really_polls(int descriptor, short events, int milliseconds) noexcept {
  pollfd state{descriptor, events, 0};
  return real_poll(&state, 1, milliseconds) > 0;
}

}  // namespace billcore::fuzz

// The functions below are exported, so that the shared libraries libcurl and libstdc++ call them instead of those of
// libc.
#pragma GCC visibility push(default)
extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  using namespace billcore::fuzz;
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_PROCESS_CPUTIME_ID ||
      clock == CLOCK_THREAD_CPUTIME_ID) {
    return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  }
  now += 1;  // lets the simulated time pass, because a loop that only reads the clock would otherwise never end
  time->tv_sec = now / 1'000'000;
  time->tv_nsec = now % 1'000'000 * 1000;
  return 0;
}

int poll(pollfd* states, nfds_t count, int milliseconds) {
  using namespace billcore::fuzz;
  // The client polls without waiting right before it sends a request; the peer must not run at that moment.
  if (running == nullptr || milliseconds == 0) return real_poll(states, count, milliseconds);
  require(milliseconds > 0, "no wait is unlimited");
  ++waited;
  running->move();
  fire_timers();
  if (const int ready = real_poll(states, count, 0); ready != 0) return ready;
  auto until = now + std::int64_t{milliseconds} * 1000;
  for (const auto due : {running->due(), next_timer()}) until = std::clamp(due.value_or(until), now, until);
  now = until;
  return 0;
}

int timerfd_settime(int descriptor, int flags, const itimerspec* time, itimerspec* before) noexcept {
  using namespace billcore::fuzz;
  const itimerspec never{};
  const auto after = time->it_value.tv_sec * 1'000'000 + (time->it_value.tv_nsec + 999) / 1000;
  const bool relative = (flags & TFD_TIMER_ABSTIME) == 0;
  timers().erase(descriptor);
  if (after > 0) timers()[descriptor] = relative ? now + after : after;
  return static_cast<int>(syscall(SYS_timerfd_settime, descriptor, 0, &never, before));
}

int connect(int descriptor, const sockaddr* address, socklen_t size) {
  billcore::fuzz::descriptors().insert(descriptor);
  return static_cast<int>(syscall(SYS_connect, descriptor, address, size));
}
}
#pragma GCC visibility pop
