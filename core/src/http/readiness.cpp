#include "http/readiness.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
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

constexpr std::uint64_t one_wake = 1;

}  // namespace

Readiness::Readiness() {
  set_ = epoll_create1(EPOLL_CLOEXEC);
  if (set_ >= 0) timer_ = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  if (timer_ >= 0) now_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (now_ < 0 || !control(EPOLL_CTL_ADD, timer_, EPOLLIN) || !control(EPOLL_CTL_ADD, now_, EPOLLIN)) {
    const int reason = errno;
    close_all();
    throw_no_descriptor(reason);
  }
}

Readiness::~Readiness() { close_all(); }

void Readiness::close_all() const noexcept {
  for (const int each : {now_, timer_, set_}) {
    if (each >= 0) close(each);
  }
}

bool Readiness::control(int operation, int socket, std::uint32_t events) const noexcept {
  epoll_event event{};
  event.events = events;
  event.data.fd = socket;
  return epoll_ctl(set_, operation, socket, &event) == 0;
}

bool Readiness::watch(int socket, bool readable, bool writable) noexcept {
  const std::uint32_t events = (readable ? EPOLLIN : 0U) | (writable ? EPOLLOUT : 0U);
  if (take_paused(socket) && events == EPOLLIN) return true;
  // The kernel removes a closed socket from the epoll set, so ENOENT and EBADF are expected here.
  if (events == 0) return control(EPOLL_CTL_DEL, socket, 0) || errno == ENOENT || errno == EBADF;
  return control(EPOLL_CTL_ADD, socket, events) || (errno == EEXIST && control(EPOLL_CTL_MOD, socket, events));
}

bool Readiness::take_paused(int socket) noexcept {
  const auto found = std::find(paused_.begin(), paused_.end(), socket);
  if (found == paused_.end()) return false;
  paused_.erase(found);
  return true;
}

void Readiness::pause(int socket) noexcept try { paused_.push_back(socket); } catch (...) {
  watch(socket, false, false);
}

void Readiness::forget(int socket) noexcept {
  if (take_paused(socket)) watch(socket, false, false);
}

void Readiness::wake_at(std::optional<Time> when) noexcept {
  // Do not move the timer to a later time: one early wake-up is cheaper than a system call for each move.
  if (!when || woken_ || (armed_ && *armed_ <= *when)) return;
  const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(*when - SteadyClock::now());
  // For a time in the past, write to the eventfd: setting the timer takes several times as long, especially on a
  // virtual machine.
  woken_ = left.count() <= 0 && write(now_, &one_wake, sizeof one_wake) > 0;
  if (woken_) return;
  armed_ = when;
  const auto nanoseconds = std::max<std::int64_t>(left.count(), 1);  // zero would disarm the timer
  itimerspec time{};
  time.it_value.tv_sec = static_cast<time_t>(nanoseconds / 1'000'000'000);
  time.it_value.tv_nsec = static_cast<decltype(time.it_value.tv_nsec)>(nanoseconds % 1'000'000'000);
  timerfd_settime(timer_, 0, &time, nullptr);
}

// Does not set woken_, which belongs to the loop's thread: poll() reads all wake-ups at once.
void Readiness::wake() const noexcept { static_cast<void>(write(now_, &one_wake, sizeof one_wake) > 0); }

bool Readiness::is_ready() const noexcept {
  epoll_event event;
  return epoll_wait(set_, &event, 1, 0) > 0;
}

std::span<Readiness::Ready> Readiness::poll(std::span<Ready> room) noexcept {
  std::array<epoll_event, 64> events;
  const auto most = static_cast<int>(std::min(events.size(), room.size()));
  const int count = epoll_wait(set_, events.data(), most, 0);
  lost_ = count < 0 && (errno == EBADF || errno == EINVAL);
  std::size_t found = 0;
  for (int i = 0; i < count; ++i) {
    const auto& event = events[static_cast<std::size_t>(i)];
    if (event.data.fd == timer_ || event.data.fd == now_) {
      std::uint64_t fired = 0;
      if (read(event.data.fd, &fired, sizeof fired) > 0) {
        if (event.data.fd == now_)
          woken_ = false;
        else
          armed_.reset();
      }
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
