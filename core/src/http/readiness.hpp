// One descriptor for all sockets of an engine and its next timer, for an event loop to watch. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"

namespace billcore::detail {

/// An epoll set with a timer in it. Its descriptor is readable when a socket is ready or the timer has expired. The
/// event loop watches only the epoll set's descriptor, and so wakes up once for many sockets. Threads: one at a time.
class Readiness {
 public:
  using Time = SteadyClock::time_point;
  struct Ready {
    int socket = -1;
    bool readable = false;
    bool writable = false;
    bool failed = false;
  };

  /// Throws Error(internal) if the process has run out of descriptors.
  Readiness();
  ~Readiness();
  Readiness(const Readiness&) = delete;
  Readiness& operator=(const Readiness&) = delete;

  [[nodiscard]] int descriptor() const noexcept { return set_; }
  /// Watches a socket; with both flags false, stops watching it. Returns false on failure.
  bool watch(int socket, bool readable, bool writable) noexcept;
  /// Stops reporting a socket that is watched for reading, until watch() is called for this socket again. To save
  /// system calls, poll() removes the socket from the epoll set only when bytes arrive on it.
  void pause(int socket) noexcept;
  /// Call this before a socket is closed: it stops watching the socket if pause() has left it in the epoll set.
  void forget(int socket) noexcept;
  /// Sets the timer; nullopt leaves the timer as it is. If the new time of the timer is later than the previous one,
  /// the loop may wake up once too early.
  void wake_at(std::optional<Time> when) noexcept;
  /// Makes the descriptor readable. Threads: any.
  void wake() const noexcept;
  /// Whether the descriptor is readable.
  [[nodiscard]] bool is_ready() const noexcept;
  /// Returns the ready sockets, as many as fit into `room`; never waits.
  [[nodiscard]] std::span<Ready> poll(std::span<Ready> room) noexcept;
  /// Whether poll() has found that the program closed the descriptor.
  [[nodiscard]] bool is_lost() const noexcept { return lost_; }

 private:
  [[nodiscard]] bool control(int operation, int socket, std::uint32_t events) const noexcept;
  void close_all() const noexcept;
  bool take_paused(int socket) noexcept;

  int set_ = -1;
  int timer_ = -1;
  int now_ = -1;
  bool woken_ = false;
  bool lost_ = false;
  std::vector<int> paused_;
  std::optional<Time> armed_;
};

}  // namespace billcore::detail
