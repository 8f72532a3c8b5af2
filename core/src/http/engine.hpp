// The transport: an engine is one libcurl multi handle with its connections. Internal.
//
// start() starts a request without waiting, drive() advances all requests of the engine, and cancel() ends one request.
// The engine calls a request's `done` when the request has ended. In an event loop, process() replaces drive().
// Threads: one thread at a time may use an engine.
#pragma once

#include <atomic>
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
  /// Scheme, host and port of the request URLs, parsed only once. A request URL with a different origin still works,
  /// but is parsed for each request. If `origin` is empty, every URL is parsed; a proxy for http requires this.
  std::string origin;
  std::optional<std::string> ca_file;  // PEM certificates to trust; libcurl's default if ca_folder is also unset
  std::optional<std::string> ca_folder;
  std::string proxy;                              // proxy URL; empty: no proxy
  std::optional<std::string> client_certificate;  // PEM file: certificate, intermediates and key
  bool http2 = false;
  /// Set when the service has refused HTTP/2; the engines of one client then offer it no longer. nullptr: never set.
  std::shared_ptr<std::atomic<bool>> http2_refused = nullptr;
  /// Maximum number of requests in flight on one HTTP/2 connection. (100 is libcurl's default.)
  long streams = 100;
  /// A connection that was idle for longer is not reused: some load balancers silently drop connections after 60 s.
  std::chrono::seconds max_idle{50};
  /// Maximum number of connections of one engine; further requests wait for a free connection. 0: unlimited.
  int max_connections = 0;
  std::size_t max_response = std::size_t{64} << 20U;
  /// By itself, libcurl sends a request again when a reused connection is closed without an answer. The write guard
  /// prevents the second send of a request, because only retry.cpp decides about retries. Only a test disables the
  /// guard, to show that libcurl would send the request twice.
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
  /// Advances all requests until `until` returns true; then returns true. Calls `interrupt` at least every 50 ms. When
  /// `interrupt` returns true, drive() reads what has already arrived and returns false, even if `until` would now
  /// return true. When a thread requests a stop through `cancel`, drive() at once does the same as when `interrupt`
  /// returns true.
  [[nodiscard]] bool drive(const std::function<bool()>& until, const std::function<bool()>& interrupt,
                           const std::stop_token& cancel = {});
  /// Progress of a request in flight. `head`: the header lines that have arrived so far.
  struct Progress {
    bool sent;
    SendTime sent_at;
    std::string_view head;
  };
  [[nodiscard]] static Progress progress(InFlight* request) noexcept;
  /// Cancels a request without calling its `done`. The connection of a write that was sent is reset, so that the
  /// kernel does not go on delivering the write. If no bytes have arrived on the HTTP/2 connection of a read since the
  /// read was sent, that connection is not used for further requests. Returns whether sending had begun; if so,
  /// `sent_at` is set.
  bool cancel(InFlight* request, SendTime* sent_at = nullptr) noexcept;
  /// Replaces the deadline after which the request is not sent. libcurl's time-out for the request does not change.
  static void set_deadline(InFlight* request, const Deadline& deadline) noexcept;
  /// Like cancel(), but for a request whose answer is no longer needed: its connection may still be used for further
  /// requests.
  void detach(InFlight* request) noexcept;

  using Timer = std::pair<SteadyClock::time_point, std::uint64_t>;
  /// Calls `then` once at the given time, from within drive() or process(), unless the timer is stopped.
  Timer at(SteadyClock::time_point when, std::function<void()> then);
  void stop(const Timer& timer) noexcept;

  /// Descriptor for an event loop: readable whenever process() has work to do. Owned by the engine.
  [[nodiscard]] int descriptor();
  /// Advances all requests without waiting, and begins nothing new after 2 ms: descriptor() then stays readable. Throws
  /// Error(invalid_argument), after it has advanced all requests, if the program closed the descriptor.
  void process();
  /// Makes descriptor() readable, so that the event loop calls process().
  void wake() noexcept;
  /// Like wake(). Threads: any, once descriptor() was called.
  void wake_from_any_thread() const noexcept;
  /// Whether descriptor() is readable.
  [[nodiscard]] bool is_ready() const noexcept;
  /// Maximum number of connections; 0: unlimited.
  [[nodiscard]] int max_connections() const noexcept;
  void set_max_connections(int most) noexcept;
  /// Makes descriptor() and process() of this engine also serve `other`, which must outlive this engine.
  void drive_with(Engine& other);

 private:
  void process(SteadyClock::time_point until);

  std::unique_ptr<Impl> impl_;
};

}  // namespace billcore::detail
