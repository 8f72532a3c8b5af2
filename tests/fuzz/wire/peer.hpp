// A hostile peer that accepts connections, runs a script on each, and records what it receives and sends. A subclass
// implements the framing of HTTP/1.1 (h1_peer.hpp) or HTTP/2 (h2_peer.hpp).
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

class Peer : public Witness {
 public:
  Peer(const std::vector<Script>& scripts, std::string nonce);
  void move() final;
  [[nodiscard]] std::optional<std::int64_t> due() const final;
  void end() noexcept final;
  [[nodiscard]] const std::deque<Received>& received() const final { return received_; }

 protected:
  struct Connection {
    int descriptor = -1;
    int port = 0;
    const Script* script = nullptr;
    std::size_t step = 0;
    std::size_t skip = 0;    // number of characters to skip at the beginning of the next text steps
    std::int64_t until = 0;  // when the current pause ends
    std::size_t awaited = 0;
    std::size_t whole = 0;  // number of requests that have arrived completely
    bool agreed = true;     // false: the TLS handshake is incomplete
    bool ready = true;      // false: the script waits for the client's SETTINGS
    std::string input;      // bytes received but not yet parsed
    std::string pending;    // bytes to send that the kernel has not taken yet
  };

  [[nodiscard]] Connection& at(std::size_t index) { return connections_[index]; }
  [[nodiscard]] const Connection& at(std::size_t index) const { return connections_[index]; }
  [[nodiscard]] std::size_t accepted() const { return connections_.size(); }
  [[nodiscard]] Received& new_request() { return received_.emplace_back(); }
  [[nodiscard]] std::size_t size_of(std::size_t index, std::size_t begin, std::size_t end) const;
  [[nodiscard]] std::string token_of(const Received* request) const;
  void close(std::size_t index, bool reset);

  // The functions below implement the framing. index: the index of the connection.
  virtual void open(std::size_t index) = 0;
  [[nodiscard]] virtual bool shake_hands(std::size_t /*index*/) { return true; }
  virtual void read(std::size_t index) = 0;
  virtual void put(std::size_t index, std::string_view bytes) = 0;
  virtual void flush(std::size_t index) = 0;
  /// Returns the request that is being answered; null if there is none.
  [[nodiscard]] virtual const Received* request(std::size_t index) const = 0;
  [[nodiscard]] virtual std::string token(std::size_t index) const { return token_of(request(index)); }
  /// Returns the bytes that frame `inner` bytes of content as a body, a chunk or the end of a chunk.
  [[nodiscard]] virtual std::string around(const Step& step, std::size_t inner) const = 0;
  /// Runs a step that is a body, a chunk or a chunk's end.
  virtual void frame(std::size_t index, const Step& step, std::size_t at) = 0;
  virtual void step_done(std::size_t /*index*/) {}
  /// Called before the sending side of the connection is shut down.
  virtual void end_sending(std::size_t index) = 0;
  /// Called before the connection is closed.
  virtual void end_connection(std::size_t index, bool reset) = 0;

 private:
  bool accept_one();
  void play(std::size_t index);
  [[nodiscard]] bool act(std::size_t index, const Step& step, std::size_t at);
  [[nodiscard]] std::string page(std::size_t index) const;

  const std::vector<Script>& scripts_;
  const std::string nonce_;
  std::deque<Connection> connections_;
  std::deque<Received> received_;
};

}  // namespace billcore::fuzz
