// The hostile peer of the target `wire`: HTTP/1.1 without TLS.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "peer.hpp"

namespace billcore::fuzz {

class H1Peer final : public Peer {
 public:
  using Peer::Peer;
  ~H1Peer() override { end(); }

  [[nodiscard]] std::size_t connections() const override { return streams_.size(); }
  [[nodiscard]] const Sent& sent(std::size_t connection) const override { return streams_[connection].sent; }

 private:
  struct Stream {
    Received* last = nullptr;
    Sent sent;
  };

  void open(std::size_t /*index*/) override { streams_.emplace_back(); }
  void read(std::size_t index) override;
  void put(std::size_t index, std::string_view bytes) override { at(index).pending += bytes; }
  void flush(std::size_t index) override;
  [[nodiscard]] const Received* request(std::size_t index) const override { return streams_[index].last; }
  [[nodiscard]] std::string around(const Step& step, std::size_t inner) const override;
  void frame(std::size_t index, const Step& step, std::size_t at) override;
  void end_sending(std::size_t index) override { streams_[index].sent.ended = true; }
  void end_connection(std::size_t index, bool /*reset*/) override { streams_[index].sent.ended = true; }

  std::deque<Stream> streams_;
};

}  // namespace billcore::fuzz
