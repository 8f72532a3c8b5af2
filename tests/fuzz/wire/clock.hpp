// A clock that advances only while the client waits: poll(), the monotonic clocks and timerfd_settime() are replaced
// for the whole program.
//
// The client and its peer share one thread. When libcurl waits, the peer acts; when the peer waits too, the clock jumps
// to the next event. So a time-out of a minute takes no real time, and an input behaves the same in every run.
#pragma once

#include <cstdint>
#include <optional>

namespace billcore::fuzz {

/// The part that acts while the client waits.
class World {
 public:
  World() = default;
  virtual ~World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  /// Does what is due, without waiting.
  virtual void move() = 0;
  /// The time of the next event that does not depend on the client, in microseconds of the clock.
  [[nodiscard]] virtual std::optional<std::int64_t> due() const = 0;
};

/// While it exists, `world` acts whenever the client waits.
class Running {
 public:
  explicit Running(World& world);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

/// Microseconds of the monotonic clock.
[[nodiscard]] std::int64_t clock_micros() noexcept;
void pass(std::int64_t micros) noexcept;
/// How often the client has waited.
[[nodiscard]] std::uint64_t waits() noexcept;
/// The descriptor that this process connected from this port of loopback; negative when it is closed.
[[nodiscard]] int connected_from(int port) noexcept;
/// The kernel's poll(), in real time.
[[nodiscard]] bool really_polls(int descriptor, short events, int milliseconds) noexcept;

}  // namespace billcore::fuzz
