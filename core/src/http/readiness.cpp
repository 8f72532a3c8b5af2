#include "http/readiness.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "billcore/error.hpp"

namespace billcore::detail {
namespace {

[[noreturn]] void throw_no_descriptor(int reason) {
  throw Error(ErrorCode::internal, "the descriptor of an event loop cannot be created: " +
                                       std::error_code(reason, std::generic_category()).message());
}

}  // namespace

Readiness::Readiness() : set_(epoll_create1(EPOLL_CLOEXEC)), timer_(-1) {
  if (set_ < 0) throw_no_descriptor(errno);
  timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = timer_;
  if (timer_ < 0 || epoll_ctl(set_, EPOLL_CTL_ADD, timer_, &event) != 0) {
    const int reason = errno;
    if (timer_ >= 0) close(timer_);
    close(set_);
    throw_no_descriptor(reason);
  }
}

Readiness::~Readiness() {
  close(timer_);
  close(set_);
}

bool Readiness::watch(int socket, bool readable, bool writable) noexcept {
  epoll_event event{};
  if (readable) event.events |= EPOLLIN;
  if (writable) event.events |= EPOLLOUT;
  event.data.fd = socket;
  if (take_paused(socket) && event.events == EPOLLIN) return true;
  // A closed socket has already left the set, so an error is expected here.
  if (event.events == 0)
    return epoll_ctl(set_, EPOLL_CTL_DEL, socket, &event) == 0 || errno == ENOENT || errno == EBADF;
  if (epoll_ctl(set_, EPOLL_CTL_MOD, socket, &event) == 0) return true;
  return errno == ENOENT && epoll_ctl(set_, EPOLL_CTL_ADD, socket, &event) == 0;
}

bool Readiness::take_paused(int socket) noexcept {
  const auto found = std::find(paused_.begin(), paused_.end(), socket);
  if (found == paused_.end()) return false;
  paused_.erase(found);
  return true;
}

void Readiness::pause(int socket) noexcept try {
  paused_.push_back(socket);
} catch (...) {
  watch(socket, false, false);
}

void Readiness::forget(int socket) noexcept {
  if (take_paused(socket)) watch(socket, false, false);
}

void Readiness::wake_at(std::optional<Time> when) noexcept {
  // One spurious wake-up is cheaper than a system call each time the timer moves to a later time.
  if (!when || (armed_ && *armed_ <= *when)) return;
  armed_ = when;
  const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(*when - std::chrono::steady_clock::now());
  const auto nanoseconds = std::max<std::int64_t>(left.count(), 1);  // zero would disarm the timer
  itimerspec time{};
  time.it_value.tv_sec = static_cast<time_t>(nanoseconds / 1'000'000'000);
  time.it_value.tv_nsec = static_cast<decltype(time.it_value.tv_nsec)>(nanoseconds % 1'000'000'000);
  timerfd_settime(timer_, 0, &time, nullptr);
}

std::span<Readiness::Ready> Readiness::poll(std::span<Ready> room) noexcept {
  std::array<epoll_event, 64> events;
  const auto most = static_cast<int>(std::min(events.size(), room.size()));
  const int count = epoll_wait(set_, events.data(), most, 0);
  std::size_t found = 0;
  for (int i = 0; i < count; ++i) {
    const auto& event = events[static_cast<std::size_t>(i)];
    if (event.data.fd == timer_) {
      std::uint64_t fired = 0;
      if (read(timer_, &fired, sizeof fired) > 0) armed_.reset();
      continue;
    }
    if (take_paused(event.data.fd)) {
      watch(event.data.fd, false, false);
      continue;
    }
    room[found++] = {event.data.fd, (event.events & (EPOLLIN | EPOLLHUP)) != 0, (event.events & EPOLLOUT) != 0,
                     (event.events & EPOLLERR) != 0};
  }
  return room.first(found);
}

}  // namespace billcore::detail
