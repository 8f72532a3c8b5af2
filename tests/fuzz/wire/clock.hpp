// A clock that stands still but while the client waits: poll(), the monotonic clocks and timerfd_settime() are replaced for the
// whole program.
//
// The client and its peer share one thread. When libcurl waits, the peer moves; when the peer waits, too, the clock jumps
// to what comes next. So a time-out of a minute takes no time, and an input does the same in every run.
#pragma once

#include <cstdint>
#include <optional>

namespace billcore::fuzz {

/// What moves while the client waits.
class World {
 public:
  World() = default;
  virtual ~World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  /// Does what is due, without waiting.
  virtual void move() = 0;
  /// When something is due without the client's doing, in microseconds of the clock.
  [[nodiscard]] virtual std::optional<std::int64_t> due() const = 0;
};

/// For as long as it exists, `world` moves whenever the client waits.
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
/// The descriptor that this process connected from this port of loopback; below 0 when it is closed.
[[nodiscard]] int connected_from(int port) noexcept;
/// poll() of the kernel, in real time.
[[nodiscard]] bool really_polls(int descriptor, short events, int milliseconds) noexcept;

}  // namespace billcore::fuzz
