// The hostile peer of the target `wire_h2`: HTTP/2 over TLS. The peer runs scripts as script.hpp describes them, except
// that two escape sequences have another meaning:
//   %( … %) is an answer to the oldest unanswered request. The first three characters are the answer's status; the
//   other characters are the answer's body, which the peer sends with a Content-Length. A status 1xx makes an interim
//   answer.
//   %[ … %] is a frame of any kind. The first three characters are the frame's type (a hex digit), flags (a digit or
//   any byte) and stream; the other characters are the frame's payload. The stream is one of
//     0 the connection
//     s the stream of the oldest unanswered request
//     l the stream of the latest request
//     n the client's next stream
//     e a stream of the server
//     any other byte: the stream with that number
// The peer sends all other text unchanged. Before it runs a script, the peer sends its SETTINGS and acknowledges
// those of the client.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "peer.hpp"
#include "tls.hpp"

struct nghttp2_hd_inflater;

namespace billcore::fuzz {

class H2Peer final : public Peer {
 public:
  using Peer::Peer;
  ~H2Peer() override { end(); }
  void settle(int call) override;

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
    std::string staged = {};  // bytes to append to `sent.bytes` when all pending bytes are sent
  };
  struct Session {
    std::unique_ptr<Tls> tls = {};
    std::unique_ptr<nghttp2_hd_inflater, FreeInflater> inflater = {};
    bool greeted = false;
    bool odd = false;
    bool any_status = false;
    std::size_t frame_end = 0;                        // index of the first step after the frame being sent
    std::optional<std::size_t> named = std::nullopt;  // index of the stream to which the frame being sent belongs
    bool is_answer = false;                           // the frame belongs to an answer (recorded as HTTP/1 bytes)
    bool ends_stream = false;
  };
  struct Frame {
    std::uint8_t type = 0;
    std::uint8_t flags = 0;
    std::uint32_t stream = 0;
  };

  void open(std::size_t index) override;
  [[nodiscard]] bool shake_hands(std::size_t index) override;
  void read(std::size_t index) override;
  void put(std::size_t index, std::string_view bytes) override;
  void flush(std::size_t index) override;
  [[nodiscard]] const Received* request(std::size_t index) const override;
  [[nodiscard]] std::string token(std::size_t index) const override;
  [[nodiscard]] std::string around(const Step& /*step*/, std::size_t /*inner*/) const override { return {}; }
  void frame(std::size_t index, const Step& step, std::size_t at) override;
  void step_done(std::size_t index) override;
  void end_sending(std::size_t index) override;
  void end_connection(std::size_t index, bool reset) override;

  void receive(std::size_t index, const Frame& frame, std::string_view payload);
  void receive_head(std::size_t index, const Frame& frame, std::string_view payload);
  void end_request(Stream& stream);
  [[nodiscard]] static std::string path_of(Session& session, std::string_view block);
  void begin_answer(std::size_t index, const Step& step, std::size_t at);
  void begin_frame(std::size_t index, const Step& step, std::size_t at);
  void put_frame(std::size_t index, const Frame& frame, std::size_t size);
  /// Records that the expected results of the calls in flight on the connection are unknown from now on.
  void mark_odd(std::size_t index, bool any_status);
  void mark_ended(std::size_t index);
  [[nodiscard]] Stream* find(std::size_t index, std::uint32_t id);
  [[nodiscard]] std::optional<std::size_t> oldest(std::size_t index) const;
  [[nodiscard]] std::optional<std::size_t> newest(std::size_t index) const;

  std::deque<Session> sessions_;  // one session for each connection
  std::deque<Stream> streams_;
};

}  // namespace billcore::fuzz
