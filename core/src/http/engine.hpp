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
  /// Scheme, host and port of (nearly) all URLs, parsed only once. Empty for arbitrary URLs, or if a proxy needs the
  /// full URL.
  std::string origin;
  std::optional<std::string> ca_file;  // PEM certificates; if neither file nor folder is given, libcurl's default
  std::optional<std::string> ca_folder;
  std::optional<std::string> proxy;               // empty: none; nullopt: from the environment
  std::optional<std::string> client_certificate;  // PEM file: certificate, intermediates and key
  bool http2 = false;
  /// A connection idle for longer is not reused: load balancers silently drop connections after 60 s.
  std::chrono::seconds max_idle{50};
  /// Maximum number of connections of one engine; further requests wait for a free connection. 0: unlimited.
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
  /// returned pointer is valid until `done` is called or the request is cancelled.
  InFlight* start(Request request, Completion done);
  /// Runs until `until` returns true. Calls `interrupt` at least every 50 ms; when it returns true, drive() reads what
  /// has already arrived and returns false, even if `until` would now return true. When any thread requests a stop of
  /// `cancel`, drive() does the same at once.
  [[nodiscard]] bool drive(const std::function<bool()>& until, const std::function<bool()>& interrupt,
                           const std::stop_token& cancel = {});
  /// Progress of a request in flight. `head`: the header lines that have arrived.
  struct Progress {
    bool sent;
    SendTime sent_at;
    std::string_view head;
  };
  [[nodiscard]] static Progress progress(InFlight* request) noexcept;
  /// Cancels a request without calling its `done`. If nothing has arrived on its HTTP/2 connection since the request
  /// was sent, that connection is not used for further requests. Returns whether sending had begun; if so, `sent_at` is
  /// set.
  bool cancel(InFlight* request, SendTime* sent_at = nullptr) noexcept;
  /// Replaces the deadline after which the request is not sent. libcurl's time-out for the request stays as it is.
  static void set_deadline(InFlight* request, const Deadline& deadline) noexcept;
  /// Like cancel(), for a request whose answer is no longer needed: does not retire its connection.
  void detach(InFlight* request) noexcept;

  using Timer = std::pair<SteadyClock::time_point, std::uint64_t>;
  /// Calls `then` once at the given time, from within drive() or process(), unless the timer is stopped.
  Timer at(SteadyClock::time_point when, std::function<void()> then);
  void stop(const Timer& timer) noexcept;

  /// Descriptor for an event loop: readable whenever process() has work to do. Owned by the engine.
  [[nodiscard]] int descriptor();
  /// Advances all requests as far as possible without waiting.
  void process();
  /// Makes descriptor() readable.
  void wake() noexcept;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace billcore::detail
