// The transport: an engine is one libcurl multi handle with its connections. Internal.
//
// Three verbs: start() begins a request, drive() moves all requests of the engine forward, cancel() ends one. A request
// completes by callback and never blocks; in an event loop process() takes drive()'s place. Threads: an engine is used by one
// thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "http/descriptors.hpp"
#include "http/request.hpp"
#include "http/transfer.hpp"

namespace billcore::detail {

/// What is the same for every request of an engine.
struct TransportOptions {
  /// Scheme, host and port of (nearly) all URLs, which are then parsed once. Empty: any URLs, or through a proxy that is
  /// to see the whole of them.
  std::string origin;
  std::optional<std::string> ca_file;  // of PEM certificates; without one and the other, libcurl's own
  std::optional<std::string> ca_folder;
  std::optional<std::string> proxy;               // empty: none; not given: the environment's
  std::optional<std::string> client_certificate;  // file of PEM: certificate, those above it, and the key
  bool http2 = false;
  /// A connection that was idle for longer is not used again: load balancers drop them without a word after 60 s.
  std::chrono::seconds max_idle{50};
  /// At once, of one engine; further requests wait for one of them. 0: any number.
  int max_connections = 0;
  std::size_t max_response = std::size_t{64} << 20U;
  /// libcurl re-sends a request by itself when a reused connection dies unanswered; the guard forbids that. Whether
  /// anything is sent again is decided in retry.cpp. Only the test that shows what it is for turns it off.
  bool send_guard = true;
};

/// A request that was started and has not ended.
class InFlight;

class Engine {
 public:
  using Completion = std::function<void(Transfer&&)>;
  struct Impl;

  explicit Engine(const TransportOptions& options,
                  std::shared_ptr<Descriptors> descriptors = std::make_shared<Descriptors>());
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Begins a request; `done` is called from within drive(), once, unless the operation is cancelled. The pointer is
  /// valid until then.
  InFlight* start(Request request, Completion done);
  /// Runs until `until` holds. `interrupt` is called at least every 50 ms; when it returns true, drive reads what has
  /// arrived and returns false, also when `until` holds by then.
  [[nodiscard]] bool drive(const std::function<bool()>& until, const std::function<bool()>& interrupt);
  /// Gives an operation up without calling its completion. If it is in HTTP/2 and nothing has arrived on its connection since
  /// it left, that connection gets no further request. True when its request had begun to leave (`sent_at` then says
  /// when).
  bool cancel(InFlight* request, Instant* sent_at = nullptr) noexcept;
  /// The same for one whose answer is no longer of use: that says nothing about its connection.
  void detach(InFlight* request) noexcept;

  using Timer = std::pair<SteadyClock::time_point, std::uint64_t>;
  /// Calls `then` from within drive() or process() when the time has come, once, unless it is stopped.
  Timer at(SteadyClock::time_point when, std::function<void()> then);
  void stop(const Timer& timer) noexcept;

  /// For an event loop: readable whenever process() has something to do. The engine's own, until it is destroyed.
  [[nodiscard]] int descriptor();
  /// Moves everything forward that can be without waiting.
  void process();
  /// Makes it readable.
  void wake() noexcept;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace billcore::detail
