// The transport: an engine is one libcurl multi handle with its connections. Internal.
//
// Three verbs: start() gives an operation, drive() moves all of the engine's operations forward, cancel() ends one. An
// operation completes by callback and never blocks; in an event loop process() takes drive()'s place. Threads: an engine is
// used by one thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/descriptors.hpp"

namespace billcore::detail {

using SteadyClock = std::chrono::steady_clock;
using Deadline = std::optional<SteadyClock::time_point>;

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

/// Request headers as libcurl wants them: made once, shared by many requests. Threads: immutable.
class RequestHeaders {
 public:
  /// lines: "Name: value".
  explicit RequestHeaders(const std::vector<std::string>& lines);
  ~RequestHeaders();
  RequestHeaders(const RequestHeaders&) = delete;
  RequestHeaders& operator=(const RequestHeaders&) = delete;

 private:
  friend class Engine;
  struct Lists;
  std::unique_ptr<const Lists> lists_;
};

struct Request {
  std::string method;
  std::string url;
  std::optional<std::string> body;  // JSON; an engaged empty one is not sent as a body
  Deadline deadline;
  std::shared_ptr<const RequestHeaders> headers;
  bool fresh = false;  // over a new connection

  [[nodiscard]] bool is_write() const noexcept { return method != "GET"; }
};

enum class Failure : std::uint8_t {
  none,
  resolve,
  connect,
  handshake,    // TLS that broke off
  tls,          // a certificate or protocol that is not accepted
  certificate,  // the client's own, which cannot be used, or which the service does not accept
  timeout,
  reset,
  truncated,
  too_large,
  protocol,
  proxy,   // refused by the proxy
  memory,  // ran out
  other
};

struct Transfer {
  Failure failure = Failure::none;
  std::string reason;             // libcurl's words
  bool sent = false;              // the request began to leave; false: nothing was sent
  std::int64_t sent_at = 0;       // UTC microseconds of that moment
  bool died_on_reuse = false;     // it left over a kept connection that the other side had given up
  bool dead_before_send = false;  // that was noticed in time, and nothing was sent
  int status = 0;                 // 0 when no status line came
  std::string head;               // the header lines as they came; see head.hpp
  std::string body;
  bool is_delimited = false;  // the head or the coding says where the body ends
};

class Engine {
 public:
  using Completion = std::function<void(Transfer&&)>;
  class Operation;
  struct Impl;

  explicit Engine(const TransportOptions& options,
                  std::shared_ptr<Descriptors> descriptors = std::make_shared<Descriptors>());
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Begins a request; `done` is called from within drive(), once, unless the operation is cancelled. The pointer is
  /// valid until then.
  Operation* start(Request request, Completion done);
  /// Runs until `until` holds. `interrupt` is called at least every 50 ms; when it returns true, drive reads what has
  /// arrived and returns false, also when `until` holds by then.
  [[nodiscard]] bool drive(const std::function<bool()>& until, const std::function<bool()>& interrupt);
  /// Gives an operation up without calling its completion. If it is in HTTP/2 and nothing has arrived on its connection since
  /// it left, that connection gets no further request. True when its request had begun to leave (`sent_at` then says
  /// when).
  bool cancel(Operation* operation, std::int64_t* sent_at = nullptr) noexcept;
  /// The same for one whose answer is no longer of use: that says nothing about its connection.
  void drop(Operation* operation) noexcept;

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
  struct Course;
  std::unique_ptr<Impl> impl_;
};

/// The file of certificates that libcurl was built to trust, when it says so.
[[nodiscard]] std::vector<std::string> own_trust();
/// The release of the libcurl in use: 0xXXYYZZ for XX.YY.ZZ.
[[nodiscard]] unsigned libcurl_version() noexcept;

/// Seconds since 1970 of an HTTP date; nothing when it is none.
[[nodiscard]] std::optional<std::int64_t> parse_http_date(std::string_view text);

/// The parts of an absolute URL that the client decides by; nothing when it is no valid URL.
struct UrlParts {
  std::string scheme;
  std::string host;  // IPv6 without brackets
  bool has_query = false;
  bool has_fragment = false;
  bool has_credentials = false;
};
[[nodiscard]] std::optional<UrlParts> split_url(const std::string& url);

}  // namespace billcore::detail
