// Records what a hostile peer received and sent, to check the results of the client's calls.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clock.hpp"

namespace billcore::fuzz {

/// A request as the peer received it.
struct Received {
  std::size_t connection = 0;
  std::string head;
  std::string body;
  bool whole = false;
  int call = 0;                 // number of the call that sent this request; 0: unknown
  int page = 0;                 // number of the requested page; 0: not a list
  std::size_t sent_before = 0;  // bytes that the peer had sent when the request's last byte arrived
};

/// The bytes that the peer sent over one connection, and when. Each HTTP/2 stream counts as one connection, and the
/// answer on it is recorded as the equivalent HTTP/1 bytes.
struct Sent {
  std::string bytes;
  std::vector<std::pair<std::size_t, std::int64_t>> times;  // after each send, number of all bytes sent, and the time
  bool ended = false;                                       // the peer can send nothing more
  bool odd = false;                                         // the expected results of the calls are unknown
  bool any_status = false;                                  // `bytes` may contain any status
};

/// Returns a token that names one request. No input can contain the token, because `nonce` is derived from the input.
[[nodiscard]] std::string token_of(std::string_view nonce, int call, int page);

/// A peer that records what it received and sent.
class Witness : public World {
 public:
  /// Resets all connections, so that the kernel keeps none in TIME_WAIT.
  virtual void end() noexcept = 0;
  /// Informs the peer that a call has ended: bytes that the peer sends later do not change the expected result of this
  /// call.
  virtual void settle(int /*call*/) {}
  [[nodiscard]] virtual const std::deque<Received>& received() const = 0;
  [[nodiscard]] virtual std::size_t connections() const = 0;
  [[nodiscard]] virtual const Sent& sent(std::size_t connection) const = 0;
};

/// The API key of the client.
inline constexpr std::string_view peer_key = "Kq7!zV1xWm4Rt9Yb2Hd5Lc8Jf3";

}  // namespace billcore::fuzz
