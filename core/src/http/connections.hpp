// The connections of one engine, and which of them may carry another request. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace billcore::detail {

/// Threads: that of its engine.
struct Connection {
  static constexpr int closed = -1;

  int descriptor = closed;
  int port = 0;              // local; 0: not looked up yet
  bool known = false;        // whether it speaks HTTP/2 was agreed upon in the TLS handshake, or it is plain
  bool http2 = false;        // agreed upon, or it has answered so
  bool opaque = false;       // bytes may wait in a TLS layer that cannot be looked into
  bool retired = false;      // carries no further request
  std::uint64_t parsed = 0;  // bytes of answers
  int in_flight = 0;         // requests that have left over it
  std::uint64_t news = 0;    // how often a part of an answer has arrived
  std::uint64_t ahead = 0;   // read_ahead() when it was closed

  /// Has the other side ended the connection? libcurl itself looks for an orderly end only, not for a reset.
  [[nodiscard]] bool is_dead() const noexcept;
  /// Is there anything to read? On an idle HTTP/1 connection that is nobody's answer.
  [[nodiscard]] bool is_readable() const noexcept;
  /// Has more arrived than was parsed? For plain HTTP/1; over TLS always true, for the records add bytes of their own.
  [[nodiscard]] bool has_unparsed() const noexcept;
  /// Bytes that were read from it (over TLS with the records' own) and not parsed as a part of an answer; 0 when that is not
  /// known. Also of a closed connection on which a request was in flight.
  [[nodiscard]] std::uint64_t read_ahead() const noexcept;
  /// HTTP/2 tells the answers of its streams apart. Where that was not seen in the handshake, a second request at once says
  /// so: HTTP/1 carries one.
  [[nodiscard]] bool is_multiplexed() const noexcept { return http2 || (!known && in_flight > 0); }
};

class Connections {
 public:
  /// A socket that was just opened. Throws std::bad_alloc.
  void add(int descriptor);
  /// Its descriptor is about to be closed.
  void remove(int descriptor) noexcept;
  /// The one with this local port; nullptr when there is none, or more than one.
  [[nodiscard]] std::shared_ptr<Connection> find(int local_port) noexcept;
  /// Is a retired one still in flight with other requests?
  [[nodiscard]] bool has_retired_in_flight() const noexcept;

 private:
  std::vector<std::shared_ptr<Connection>> open_;
};

}  // namespace billcore::detail
