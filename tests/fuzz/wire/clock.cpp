#include "clock.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
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

int real_poll(pollfd* states, nfds_t count, int milliseconds) noexcept {
  return static_cast<int>(syscall(SYS_poll, states, count, milliseconds));
}

}  // namespace

Running::Running(World& world) {
  constexpr std::int64_t second = 1'000'000;
  now = (now / second + 1) * second;  // each input begins at a whole second, for libcurl rounds to milliseconds
  descriptors().clear();
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

// Seen by libcurl and the C++ library, which are shared.
#pragma GCC visibility push(default)
extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  using namespace billcore::fuzz;
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_PROCESS_CPUTIME_ID ||
      clock == CLOCK_THREAD_CPUTIME_ID) {
    return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  }
  now += 1;  // or a loop that waits for the clock alone would have no end
  time->tv_sec = now / 1'000'000;
  time->tv_nsec = now % 1'000'000 * 1000;
  return 0;
}

int poll(pollfd* states, nfds_t count, int milliseconds) {
  using namespace billcore::fuzz;
  // The look at a connection right before a request leaves does not wait: nothing may happen in between.
  if (running == nullptr || milliseconds == 0) return real_poll(states, count, milliseconds);
  require(milliseconds > 0, "no wait is without an end");
  ++waited;
  running->move();
  if (const int ready = real_poll(states, count, 0); ready != 0) return ready;
  auto until = now + std::int64_t{milliseconds} * 1000;
  if (const auto due = running->due()) until = std::clamp(*due, now, until);
  now = until;
  return 0;
}

int connect(int descriptor, const sockaddr* address, socklen_t size) {
  billcore::fuzz::descriptors().insert(descriptor);
  return static_cast<int>(syscall(SYS_connect, descriptor, address, size));
}
}
#pragma GCC visibility pop
