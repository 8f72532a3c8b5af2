// The hostile peer of the target `wire`: plays scripts, and writes down what it received and sent.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clock.hpp"
#include "script.hpp"

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

/// What was sent over one connection, and when.
struct Sent {
  std::string bytes;
  std::vector<std::pair<std::size_t, std::int64_t>> times;  // so many bytes had been sent by then
  bool ended = false;                                       // nothing more can come
};

/// Names one request, in a text that no input can have in it: `nonce` is made of the input.
[[nodiscard]] std::string token_of(std::string_view nonce, int call, int page);

class Peer final : public World {
 public:
  Peer(const std::vector<Script>& scripts, std::string nonce);
  ~Peer() override;
  void move() override;
  [[nodiscard]] std::optional<std::int64_t> due() const override;
  /// Ends all connections, with a reset: none is left to the kernel.
  void end() noexcept;

  [[nodiscard]] const std::deque<Received>& received() const { return received_; }
  [[nodiscard]] const Sent& sent(std::size_t connection) const { return connections_[connection].sent; }
  [[nodiscard]] static int port();

 private:
  struct Connection {
    int descriptor = -1;
    int port = 0;
    const Script* script = nullptr;
    std::size_t step = 0;
    std::int64_t until = 0;  // of a pause
    std::size_t awaited = 0;
    std::size_t whole = 0;  // requests
    Received* last = nullptr;
    std::string input;    // not yet parsed
    std::string pending;  // not yet taken by the kernel
    Sent sent;
  };

  bool accept_one();
  void read(Connection& connection, std::size_t index);
  void parse(Connection& connection, std::size_t index);
  void play(Connection& connection);
  [[nodiscard]] bool act(Connection& connection, const Step& step);
  void flush(Connection& connection);
  void close(Connection& connection, bool reset);
  [[nodiscard]] std::string token(const Connection& connection) const;
  [[nodiscard]] std::size_t size_of(const Connection& connection, std::size_t begin, std::size_t end) const;

  const std::vector<Script>& scripts_;
  const std::string nonce_;
  std::deque<Connection> connections_;
  std::deque<Received> received_;
};

/// The key that the client has.
inline constexpr std::string_view peer_key = "Kq7!zV1xWm4Rt9Yb2Hd5Lc8Jf3";

}  // namespace billcore::fuzz
