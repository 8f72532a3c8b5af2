// One request in flight, and the engine's internal state. Only for files in http/ that use libcurl.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "http/chunked.hpp"
#include "http/connections.hpp"
#include "http/content_coding.hpp"
#include "http/engine.hpp"
#include "http/handles.hpp"
#include "http/head.hpp"
#include "http/libcurl.hpp"
#include "http/readiness.hpp"
#include "http/releases.hpp"

namespace billcore::detail {

// Records to which values the options of a libcurl handle are set that may differ between requests. To set an option
// takes libcurl a hundred instructions, so the engine sets only those that differ from the handle's last request.
struct HandleOptions {
  CURLU* origin = nullptr;
  const curl_slist* headers = nullptr;
  long http_version = CURL_HTTP_VERSION_NONE;
  long timeout = 0;  // in milliseconds; 0: no time-out
  bool pipewait = false;
  bool fresh = false;
  bool forbid_reuse = false;
  bool post = false;          // CURLOPT_POST is set, not CURLOPT_HTTPGET
  bool other_method = false;  // CURLOPT_CUSTOMREQUEST is set
};

// What the callbacks and the engine note about a request while it is in flight.
struct RequestMarks {
  int sends = 0;
  bool opened = false;              // libcurl opened a new connection for the request
  std::uint64_t news_before = 0;    // value of Connection::news when the request was sent
  bool reuse_forbidden = false;     // see forbid_reuse()
  bool stream_ended = false;        // the HTTP/2 stream ended with END_STREAM; see streams.hpp
  Failure refusal = Failure::none;  // how the service refused the request by HTTP/2's means: refused or http1_required
  std::size_t header_bytes = 0;
  bool over_limit = false;
  bool headers_over_limit = false;
  bool late = false;           // the deadline had passed before libcurl sent the request
  bool unnamed = false;        // the service's certificate has no subject alternative name
  bool out_of_memory = false;  // memory ran out in a callback, which then aborted the transfer
  bool unheld = false;         // the kernel refused Connection::hold()
  bool holds = false;          // a write: Connection::hold() was called for it, and settle() not yet
  bool answered = false;       // the request ended with a complete answer
  bool leaving = false;        // a write whose sending has begun and may not have ended
  bool looked_again = false;   // see Engine::Impl::expire()
  std::optional<Engine::Timer> expiry = {};
};

// A request in flight with its libcurl handle. The engine reuses the object for further requests, because changing a few
// options of a handle is cheaper than setting all of them. Some libcurl releases do not allow a handle to send a second
// request (releases.hpp). With these, the engine sets the options of the handle `pattern`, which sends nothing, and each
// request gets a copy of it.
class InFlight : public RequestMarks {
 public:
  InFlight(const TransportOptions& options, Engine::Impl& of)
      : guarded(options.send_guard), max_response(options.max_response), engine(of) {}

  /// Forgets the request, but keeps the handles with their options, so that the object can serve another request.
  void clear() noexcept;
  /// The handle whose options the engine sets: `pattern` if there is one, else `easy`; null if the request has neither.
  [[nodiscard]] CURL* handle() const noexcept { return pattern == nullptr ? easy.get() : pattern.get(); }

  /// Records that `bytes` bytes of the answer have arrived.
  void note_news(std::size_t bytes) const noexcept {
    if (connection == nullptr) return;
    ++connection->news;
    connection->parsed += bytes;
  }
  /// Records that the service refused the request, unless a part of an answer has arrived.
  void note_refusal(Failure how) noexcept;
  /// How many bytes of the body have arrived, as the content coding left them.
  [[nodiscard]] std::uint64_t body_bytes() const noexcept;
  /// Whether the whole answer has arrived. False also for an answer that ends with its connection.
  [[nodiscard]] bool has_whole_answer() const noexcept;
  /// Ends the effect of Connection::hold() when a write has ended: releases the connection if the write was answered,
  /// otherwise resets it.
  void settle() noexcept;
  /// Makes libcurl close the connection after this answer instead of reusing the connection.
  void forbid_reuse() noexcept {
    if (std::exchange(reuse_forbidden, true)) return;
    curl_easy_setopt(easy.get(), CURLOPT_FORBID_REUSE, 1L);
    if (pattern == nullptr) handle_options.forbid_reuse = true;
  }
  /// Takes libcurl's time-out off the request.
  void end_timeout() noexcept {
    curl_easy_setopt(easy.get(), CURLOPT_TIMEOUT_MS, 0L);
    if (pattern == nullptr) handle_options.timeout = 0;
  }

  Engine::Completion done;
  Request request;
  Transfer transfer;
  std::shared_ptr<Connection> connection;  // the connection that the request was sent over
  HeadReader head;
  ChunkedBody chunks;
  std::unique_ptr<ContentCoding> coding;  // only if the head names a coding
  const bool guarded;
  const std::size_t max_response;
  Engine::Impl& engine;
  std::array<char, CURL_ERROR_SIZE> error{};
  EasyHandle easy;               // null while the request waits; see Engine::Impl::waiting
  EasyHandle pattern;            // null if the libcurl release allows a handle to be reused
  HandleOptions handle_options;  // of handle(), not of a copy of it
};

struct Engine::Impl {
  Impl(const TransportOptions& from, std::shared_ptr<Descriptors> of);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // Gives the request a handle of libcurl.
  void equip(InFlight& flight);
  void make_handle(InFlight& flight) const;
  void prepare(InFlight& flight) const;
  void set_address(InFlight& flight) const;
  // Completes finished transfers. Stops at the time `until`, and returns false if finished transfers are left then.
  bool collect(Deadline until = std::nullopt);
  // Records the outcome of a request in its transfer.
  void judge(InFlight& flight, CURLcode code);
  void set_max_connections(int most) noexcept;
  void check(CURLMcode code) const;
  // Like check(), for event loops: does not throw when memory runs out, because the other requests must continue.
  // libcurl may then have lost track of a socket or a timer, so process() polls all sockets and timers.
  void note(CURLMcode code);
  // Whether a further request must wait, because no connection is free, or because connecting would take start() too long.
  [[nodiscard]] bool must_wait() const noexcept;
  [[nodiscard]] bool has_room() const noexcept;
  // Hands waiting requests to libcurl, as many as there are free connections. Stops at the time `until`.
  void admit(SteadyClock::time_point until);
  // Sends a started request over a kept connection at once, instead of in the event loop's next iteration.
  void send_now() noexcept;
  void run_started() noexcept;
  // Calls the timers that are due. Stops at the time `until`.
  void run_timers(Deadline until = std::nullopt);
  void expire(InFlight* flight);
  void expire_at(InFlight* flight, SteadyClock::time_point when);
  void make_readiness();
  void rearm() noexcept;
  // Removes a request from `in_flight`. `given_up` says that the request ends without its answer, because of a
  // deadline, a cancellation or an interrupt.
  std::unique_ptr<InFlight> take(InFlight* flight, bool given_up) noexcept;
  void retire(Connection& connection) noexcept;
  // Like InFlight::settle(), and retires a connection that it has reset.
  void settle(InFlight& flight) noexcept;
  // To be called when libcurl has returned from a step in which it may have sent requests. Marks the writes that may
  // have been sent after their deadline: the process, or the machine, may have been stopped within the step.
  void note_late() noexcept;
  void leave(InFlight& flight) noexcept;
  // Whether the TLS library may have read answers ahead that libcurl will not ask for. libcurl (from 8.15, which lets OpenSSL
  // read ahead) reads from an HTTP/2 connection for one request after the other, until the answer to each is complete,
  // and does not come back to an earlier request for what a later one has left. The socket does not become readable for
  // bytes that were read ahead.
  [[nodiscard]] bool has_unread() noexcept;
  void limit_streams() noexcept;
  void give_back(std::unique_ptr<InFlight> flight) noexcept;
  void end(InFlight* flight);

  TransportOptions options;
  std::shared_ptr<Descriptors> descriptors;  // this member and the next three must outlive `multi`
  Connections connections;
  std::unique_ptr<Readiness> readiness;
  UrlHandle origin;
  MultiHandle multi;
  bool streams_limited = false;
  const unsigned release = libcurl_version();
  const bool reuses_handles = !keeps_stale_header(release);
  std::vector<std::unique_ptr<InFlight>> spare;
  std::vector<std::unique_ptr<InFlight>> in_flight;
  // In an event loop, requests that wait for a connection. libcurl would search its list of waiting requests whenever a
  // request ends: 10,000 requests would take ten times as long. Besides, a request that waits here needs no handle.
  std::deque<std::unique_ptr<InFlight>> waiting;
  std::map<Timer, std::function<void()>> timers;
  std::uint64_t timer_count = 0;
  bool sending = false;                        // some write is `leaving`
  int wakeup = -1;                             // see is_wakeup(); -1: not known
  Engine* beside = nullptr;                    // see drive_with()
  bool deserted = false;                       // a request has left others behind on its connection: see has_unread()
  bool unfinished = false;                     // process() must run again at once
  bool unwatched = false;                      // libcurl waits for a socket that is not in the epoll set
  std::optional<SteadyClock::time_point> due;  // time at which libcurl's timer expires, in an event loop
};

}  // namespace billcore::detail
