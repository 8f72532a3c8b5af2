// The transport: an engine is one libcurl multi handle with its connections. Internal.
//
// start() starts a request, drive() advances all requests of the engine, cancel() ends one. Requests complete by
// callback and never block. In an event loop process() replaces drive(). Threads: one thread at a time may use an
// engine.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "http/descriptors.hpp"
#include "http/request.hpp"
#include "http/transfer.hpp"

namespace billcore::detail {

/// Options shared by all requests of an engine.
struct TransportOptions {
  /// Scheme, host and port of (nearly) all URLs, parsed only once. Empty: arbitrary URLs, or a proxy that needs the
  /// full URL.
  std::string origin;
  std::optional<std::string> ca_file;  // PEM certificates; if neither file nor folder is given, libcurl's default
  std::optional<std::string> ca_folder;
  std::optional<std::string> proxy;               // empty: none; nullopt: from the environment
  std::optional<std::string> client_certificate;  // PEM file: certificate, intermediates and key
  bool http2 = false;
  /// A connection idle for longer is not reused: load balancers silently drop connections after 60 s.
  std::chrono::seconds max_idle{50};
  /// Connections of one engine; further requests wait for a free one. 0: unlimited.
  int max_connections = 0;
  std::size_t max_response = std::size_t{64} << 20U;
  /// libcurl re-sends a request on its own when a reused connection is closed without an answer. The guard prevents
  /// that: retry.cpp decides about retries. Disabled only by the test that demonstrates its purpose.
  bool send_guard = true;
};

/// An unfinished request.
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

  /// Starts a request. `done` is called once, from within drive() or process(), unless the request is cancelled. The
  /// pointer is valid until then.
  InFlight* start(Request request, Completion done);
  /// Runs until `until` returns true. Calls `interrupt` at least every 50 ms; when it returns true, drive() reads what
  /// has already arrived and returns false, even if `until` would now return true.
  /// `cancel` does the same at once, from any thread.
  [[nodiscard]] bool drive(const std::function<bool()>& until, const std::function<bool()>& interrupt,
                           const std::stop_token& cancel = {});
  /// What has happened to a request in flight. `head`: the header lines that have arrived.
  struct Progress {
    bool sent;
    SendTime sent_at;
    std::string_view head;
  };
  [[nodiscard]] static Progress progress(InFlight* request) noexcept;
  /// Cancels a request without calling its `done`. If nothing has arrived on its connection since it was sent, that
  /// connection (HTTP/2) is not used for further requests. Returns whether sending had begun; if so, `sent_at` is set.
  bool cancel(InFlight* request, SendTime* sent_at = nullptr) noexcept;
  /// Replaces the time from which on the request is not sent. Its time-out remains.
  static void set_deadline(InFlight* request, const Deadline& deadline) noexcept;
  /// Like cancel(), for a request whose answer is no longer needed: does not retire its connection.
  void detach(InFlight* request) noexcept;

  using Timer = std::pair<SteadyClock::time_point, std::uint64_t>;
  /// Calls `then` once at the given time, from within drive() or process(), unless the timer is stopped.
  Timer at(SteadyClock::time_point when, std::function<void()> then);
  void stop(const Timer& timer) noexcept;

  /// For an event loop: readable whenever process() has work to do. Owned by the engine.
  [[nodiscard]] int descriptor();
  /// Advances everything that can proceed without waiting.
  void process();
  /// Makes the descriptor readable.
  void wake() noexcept;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace billcore::detail
