// The hostile peer of the target `wire`: runs scripts, and records what it received and sent.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger.hpp"
#include "script.hpp"

namespace billcore::fuzz {

class Peer final : public Witness {
 public:
  Peer(const std::vector<Script>& scripts, std::string nonce);
  ~Peer() override;
  void move() override;
  [[nodiscard]] std::optional<std::int64_t> due() const override;
  void end() noexcept override;

  [[nodiscard]] const std::deque<Received>& received() const override { return received_; }
  [[nodiscard]] std::size_t connections() const override { return connections_.size(); }
  [[nodiscard]] const Sent& sent(std::size_t connection) const override { return connections_[connection].sent; }
  [[nodiscard]] static int port();

 private:
  struct Connection {
    int descriptor = -1;
    int port = 0;
    const Script* script = nullptr;
    std::size_t step = 0;
    std::int64_t until = 0;  // end of a pause
    std::size_t awaited = 0;
    std::size_t whole = 0;  // complete requests
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

}  // namespace billcore::fuzz
