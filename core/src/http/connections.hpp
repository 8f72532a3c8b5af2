// The connections of one engine, and the check whether a connection may be reused. Internal.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace billcore::detail {

/// A connection and its state. Threads: only the thread that uses the engine.
struct Connection {
  static constexpr int closed = -1;

  int descriptor = closed;
  int port = 0;              // local port; 0: not looked up yet
  bool known = false;        // the protocol is known, from the TLS handshake or because there is no TLS
  bool named = false;        // the names in the server's certificate have been checked
  bool http2 = false;        // HTTP/2 was negotiated, or seen in an answer
  bool opaque = false;       // bytes may be buffered in a TLS layer that cannot be inspected
  bool retired = false;      // the connection is not used for further requests
  bool read_only = false;    // the event loop waits only for reading from the connection, not for writing
  std::uint64_t parsed = 0;  // bytes parsed as part of answers
  int in_flight = 0;         // unfinished requests that were sent over the connection
  std::uint64_t news = 0;    // number of pieces of answers that have arrived
  std::uint64_t ahead = 0;   // result of read_ahead() when the connection was closed or reset
  bool was_reset = false;    // by reset()
  int holds = 0;             // calls of hold() without their release(): writes that are not answered
  bool timed = false;        // hold() has set the kernel's time limit

  /// Whether the server has closed the connection. (libcurl itself detects only an orderly close, not a connection
  /// reset.)
  [[nodiscard]] bool is_dead() const noexcept;
  /// Whether there are bytes to read, or the server has closed the connection. Bytes on an idle HTTP/1 connection do
  /// not belong to any answer.
  [[nodiscard]] bool is_readable() const noexcept;
  /// Whether more bytes have arrived than were parsed. Only for plain HTTP/1: over TLS the result is always true,
  /// because of the record overhead.
  [[nodiscard]] bool has_unparsed() const noexcept;
  /// Bytes read from the connection (over TLS with record overhead) but not parsed as part of an answer; 0 if unknown.
  /// If the connection was closed while a request was in flight, returns the number at that time.
  [[nodiscard]] std::uint64_t read_ahead() const noexcept;
  /// Whether the connection uses HTTP/2, which numbers answers by stream. If the handshake was not seen, a second
  /// concurrent request implies HTTP/2, since an HTTP/1 connection carries one request at a time.
  [[nodiscard]] bool is_multiplexed() const noexcept { return http2 || (!known && in_flight > 0); }

  /// Call this before a write is sent. From then on, closing the socket resets the connection, also when the process
  /// ends: the kernel discards what it has not yet delivered. (After an ordinary close the kernel would go on
  /// delivering a write that the client has given up.) `left`: the time until the write's deadline, after which the
  /// kernel itself gives up an undelivered write, also while the process is stopped; the kernel counts from the first
  /// retransmission, and not while the machine is suspended. Returns false if the kernel refuses; then the write must
  /// not be sent.
  [[nodiscard]] bool hold(std::optional<std::chrono::milliseconds> left) noexcept;
  /// Reverses one call of hold(), when its write has been answered.
  void release() noexcept;
  /// Resets the connection at once, also if a forked child has the socket open, which would delay the effect of
  /// closing the socket.
  void reset() noexcept;
};

class Connections {
 public:
  /// Adds a newly opened socket. Throws std::bad_alloc.
  void add(int descriptor);
  /// Removes a socket. Call remove() before the descriptor is closed.
  void remove(int descriptor) noexcept;
  /// The connection with this local port to this address; nullptr if there is none.
  [[nodiscard]] std::shared_ptr<Connection> find(int local_port, std::string_view address) noexcept;
  /// The connection with this descriptor; nullptr if there is none.
  [[nodiscard]] Connection* find_descriptor(int descriptor) noexcept;
  /// Whether any connection is open.
  [[nodiscard]] bool any() const noexcept { return !open_.empty(); }
  /// Whether a retired connection still has requests in flight.
  [[nodiscard]] bool has_retired_in_flight() const noexcept;

 private:
  [[nodiscard]] std::shared_ptr<Connection> find_exactly(int local_port, std::string_view address) const noexcept;

  std::vector<std::shared_ptr<Connection>> open_;
};

}  // namespace billcore::detail
