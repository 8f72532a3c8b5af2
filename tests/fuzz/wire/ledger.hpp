// What a hostile peer received and sent: what the calls of its client are judged by.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clock.hpp"

namespace billcore::fuzz {

/// What the peer received of one request.
struct Received {
  std::size_t connection = 0;
  std::string head;
  std::string body;
  bool whole = false;
  int call = 0;                 // its number; 0: none
  int page = 0;                 // of a list; 0: none
  std::size_t sent_before = 0;  // bytes that had been sent over the connection when its last byte arrived
};

/// What was sent over one connection, and when. In HTTP/2 each stream counts as one, and has what HTTP/1 would have sent.
struct Sent {
  std::string bytes;
  std::vector<std::pair<std::size_t, std::int64_t>> times;  // so many bytes had been sent by then
  bool ended = false;                                       // nothing more can come
  bool odd = false;                                         // what the client must make of it is not known
  bool any_status = false;                                  // it may hold any status
};

/// Names one request, in a text that no input can have in it: `nonce` is made of the input.
[[nodiscard]] std::string token_of(std::string_view nonce, int call, int page);

/// A peer that writes down what it received and sent.
class Witness : public World {
 public:
  /// Ends all connections, with a reset: none is left to the kernel.
  virtual void end() noexcept = 0;
  /// A call has ended: what is sent from here is nothing to it.
  virtual void settle(int /*call*/) {}
  [[nodiscard]] virtual const std::deque<Received>& received() const = 0;
  [[nodiscard]] virtual std::size_t connections() const = 0;
  [[nodiscard]] virtual const Sent& sent(std::size_t connection) const = 0;
};

/// The key that the client has.
inline constexpr std::string_view peer_key = "Kq7!zV1xWm4Rt9Yb2Hd5Lc8Jf3";

}  // namespace billcore::fuzz
