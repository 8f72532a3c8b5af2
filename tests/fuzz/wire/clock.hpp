// A simulated clock, which jumps forward while the client waits. This file's functions replace poll(),
// timerfd_settime() and the monotonic clocks for the whole program.
//
// The client and its peer share one thread. When libcurl waits, the peer runs; when the peer waits as well, the clock
// jumps to the next event. A time-out of a minute takes no real time, and an input behaves the same in every run.
#pragma once

#include <cstdint>
#include <optional>

namespace billcore::fuzz {

/// Interface of the code that runs while the client waits, such as the peer.
class World {
 public:
  World() = default;
  virtual ~World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  /// Does all work that is due, without waiting.
  virtual void move() = 0;
  /// Returns the time of the next event that does not depend on the client, in microseconds of the simulated clock.
  [[nodiscard]] virtual std::optional<std::int64_t> due() const = 0;
};

/// While an object of this class exists, world.move() is called whenever the client waits.
class Running {
 public:
  explicit Running(World& world);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

/// Returns the simulated monotonic time in microseconds.
[[nodiscard]] std::int64_t clock_micros() noexcept;
void pass(std::int64_t micros) noexcept;
/// Returns how often the client has waited.
[[nodiscard]] std::uint64_t waits() noexcept;
/// Returns the client's descriptor of the connection with this local port; negative if the connection is closed.
[[nodiscard]] int connected_from(int port) noexcept;
/// Calls the kernel's poll(), which waits in real time.
[[nodiscard]] bool really_polls(int descriptor, short events, int milliseconds) noexcept;

}  // namespace billcore::fuzz
