// What an event loop watches for an engine: one descriptor for all of its sockets and its next point in time. Internal.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

namespace billcore::detail {

/// An epoll set with a timer in it. Its descriptor is readable when a socket is ready or the time has come, so that a loop
/// needs to know nothing else, and is woken once for many sockets. Threads: one at a time.
class Readiness {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Ready {
    int socket = -1;
    bool readable = false;
    bool writable = false;
    bool failed = false;
  };

  /// Error(internal) when the process has no descriptors left.
  Readiness();
  ~Readiness();
  Readiness(const Readiness&) = delete;
  Readiness& operator=(const Readiness&) = delete;

  [[nodiscard]] int descriptor() const noexcept { return set_; }
  /// Neither: it is not watched any more. False when that did not work.
  bool watch(int socket, bool readable, bool writable) noexcept;
  /// Nothing: no time. A time that is later than the one before may wake the loop early, once.
  void wake_at(std::optional<Time> when) noexcept;
  /// Which sockets are ready, at most as many as there is room for; never waits.
  [[nodiscard]] std::span<Ready> poll(std::span<Ready> room) noexcept;

 private:
  int set_;
  int timer_;
  std::optional<Time> armed_;
};

}  // namespace billcore::detail
