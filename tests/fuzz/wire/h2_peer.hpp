// The hostile peer of the target `wire_h2`: HTTP/2 over TLS. It runs the scripts of script.hpp, in which two sequences
// have another meaning:
//   %( … %) is an answer to the oldest unanswered request: the first three characters are its status, the rest is its
//   body, sent with its length; 1xx is an interim answer
//   %[ … %] is a frame of any kind: its type (a hex digit), flags (a digit or any byte), and stream (0; s that of the
//   oldest unanswered request; l that of the last request; n the client's next one; e one of the server; or any byte),
//   then its payload
// All other text is sent verbatim. The peer first sends its SETTINGS, and the acknowledgement of the client's.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ledger.hpp"
#include "script.hpp"
#include "tls.hpp"

struct nghttp2_hd_inflater;

namespace billcore::fuzz {

class H2Peer final : public Witness {
 public:
  H2Peer(const std::vector<Script>& scripts, std::string nonce);
  ~H2Peer() override;
  void move() override;
  [[nodiscard]] std::optional<std::int64_t> due() const override;
  void end() noexcept override;
  void settle(int call) override;

  [[nodiscard]] const std::deque<Received>& received() const override { return received_; }
  /// The number of streams: in HTTP/2 each stream counts as a connection.
  [[nodiscard]] std::size_t connections() const override { return streams_.size(); }
  [[nodiscard]] const Sent& sent(std::size_t connection) const override { return streams_[connection].sent; }

 private:
  struct FreeInflater {
    void operator()(nghttp2_hd_inflater* inflater) const noexcept;
  };
  struct Stream {
    std::size_t connection = 0;
    std::uint32_t id = 0;
    Received* request = nullptr;
    bool answered = false;
    bool settled = false;
    Sent sent = {};
    std::string staged = {};  // added to `sent` when all pending bytes were sent
  };
  struct Connection {
    int descriptor = -1;
    int port = 0;
    const Script* script = nullptr;
    std::unique_ptr<Tls> tls = {};
    std::unique_ptr<nghttp2_hd_inflater, FreeInflater> inflater = {};
    bool agreed = false;  // HTTP/2 was negotiated
    bool greeted = false;
    bool ready = false;  // the client's SETTINGS have arrived
    bool odd = false;
    bool any_status = false;
    std::size_t step = 0;
    std::size_t frame_end = 0;                        // steps before this one belong to the frame being sent
    std::size_t skip = 0;                             // characters of the frame's text that are not sent
    std::optional<std::size_t> named = std::nullopt;  // the stream of that frame
    bool is_answer = false;                           // that frame is an answer as in HTTP/1
    bool ends_stream = false;
    std::int64_t until = 0;  // end of a pause
    std::size_t awaited = 0;
    std::size_t whole = 0;  // complete requests
    std::string input = {};
    std::string pending = {};
  };
  struct Frame {
    std::uint8_t type = 0;
    std::uint8_t flags = 0;
    std::uint32_t stream = 0;
  };

  bool accept_one();
  void read(std::size_t index);
  void parse(std::size_t index);
  void receive(std::size_t index, const Frame& frame, std::string_view payload);
  void receive_head(std::size_t index, const Frame& frame, std::string_view payload);
  void end_request(Connection& connection, Stream& stream);
  [[nodiscard]] std::string path_of(Connection& connection, std::string_view block);

  void play(std::size_t index);
  [[nodiscard]] bool act(std::size_t index, const Step& step, std::size_t at);
  void begin_answer(std::size_t index, const Step& step, std::size_t at);
  void begin_frame(std::size_t index, const Step& step, std::size_t at);
  void end_frame(std::size_t index);
  void put(std::size_t index, std::string_view bytes);
  void put_frame(Connection& connection, const Frame& frame, std::size_t size);
  void flush(std::size_t index);
  void close(std::size_t index, bool reset);
  /// From here the expected result of the connection is unknown.
  void mark_odd(std::size_t index, bool any_status);
  void mark_ended(std::size_t index);
  [[nodiscard]] Stream* find(std::size_t index, std::uint32_t id);
  [[nodiscard]] std::optional<std::size_t> oldest(std::size_t index) const;
  [[nodiscard]] std::optional<std::size_t> newest(std::size_t index) const;
  [[nodiscard]] std::string token(std::size_t index) const;
  [[nodiscard]] std::string page(std::size_t index) const;
  [[nodiscard]] std::size_t size_of(std::size_t index, std::size_t begin, std::size_t end) const;

  const std::vector<Script>& scripts_;
  const std::string nonce_;
  std::deque<Connection> connections_;
  std::deque<Stream> streams_;
  std::deque<Received> received_;
};

}  // namespace billcore::fuzz
