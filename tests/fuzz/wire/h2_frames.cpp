// The frames that the HTTP/2 peer sends and receives.
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>

#include "door.hpp"
#include "h2_peer.hpp"
#include "support.hpp"

namespace billcore::fuzz {
namespace {

enum : std::uint8_t {
  data,
  headers,
  priority,
  rst_stream,
  settings,
  push_promise,
  ping,
  goaway,
  window_update,
  continuation
};
constexpr std::uint8_t end_stream = 1;
constexpr std::uint8_t ack = 1;
constexpr std::uint8_t end_headers = 4;
constexpr std::uint8_t padded = 8;
constexpr std::uint8_t with_priority = 0x20;
constexpr std::uint8_t first_unknown = 13;  // clients must ignore frames of type 13 or higher
constexpr std::size_t preface = 24;
constexpr std::size_t frame_head = 9;
constexpr std::size_t most_payload = 16384;

bool are_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Encodes a header field for HPACK. `name` is already encoded: an index into the static table, or a literal name.
std::string field(std::string_view name, std::string_view value) {
  std::string out(name);
  out += static_cast<char>(value.size());
  return out.append(value);
}

}  // namespace

void H2Peer::FreeInflater::operator()(nghttp2_hd_inflater* inflater) const noexcept {
  nghttp2_hd_inflate_del(inflater);
}

H2Peer::Stream* H2Peer::find(std::size_t index, std::uint32_t id) {
  for (auto& stream : streams_) {
    if (stream.connection == index && stream.id == id) return &stream;
  }
  return nullptr;
}

// Parses frames without checks, because the client is trusted to write valid HTTP/2.
void H2Peer::read(std::size_t index) {
  auto& session = sessions_[index];
  auto& input = at(index).input;
  session.tls->read(input);
  if (!session.greeted) {
    if (input.size() < preface) return;
    input.erase(0, preface);
    session.greeted = true;
  }
  while (input.size() >= frame_head) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(input[i])); };
    const std::size_t size = byte(0) << 16U | byte(1) << 8U | byte(2);
    if (input.size() < frame_head + size) return;
    const Frame frame{static_cast<std::uint8_t>(byte(3)), static_cast<std::uint8_t>(byte(4)),
                      (byte(5) & 0x7FU) << 24U | byte(6) << 16U | byte(7) << 8U | byte(8)};
    receive(index, frame, std::string_view(input).substr(frame_head, size));
    input.erase(0, frame_head + size);
  }
}

void H2Peer::receive(std::size_t index, const Frame& frame, std::string_view payload) {
  if (frame.type == headers) {
    receive_head(index, frame, payload);
  } else if (frame.type == data) {
    auto* const stream = find(index, frame.stream);
    if (stream == nullptr) return;
    stream->request->body += payload;
    if (stream->request->call == 0) stream->request->call = number_behind(stream->request->body, "/call-");
    if ((frame.flags & end_stream) != 0) end_request(*stream);
  } else if (frame.type == settings && !at(index).ready) {
    put_frame(index, {settings, 0, 0}, 0);
    put_frame(index, {settings, ack, 0}, 0);
    at(index).ready = true;
  }
}

void H2Peer::receive_head(std::size_t index, const Frame& frame, std::string_view payload) {
  auto& session = sessions_[index];
  require((frame.flags & padded) == 0 && (frame.flags & end_headers) != 0, "the head of a request is one frame");
  if ((frame.flags & with_priority) != 0) payload.remove_prefix(5);
  auto& request = new_request();
  request.connection = streams_.size();
  request.head = path_of(session, payload);
  request.page = number_behind(request.head, "page=");
  request.call = std::max(number_behind(request.head, "/call-"), number_behind(request.head, "/product/90"));
  auto& stream = streams_.emplace_back();
  stream.connection = index;
  stream.id = frame.stream;
  stream.request = &request;
  stream.sent.odd = session.odd;
  stream.sent.any_status = session.any_status;
  if (session.any_status) stream.sent.bytes = "?";
  if ((frame.flags & end_stream) != 0) end_request(stream);
}

void H2Peer::end_request(Stream& stream) {
  if (stream.request->whole) return;
  stream.request->whole = true;
  ++at(stream.connection).whole;
}

std::string H2Peer::path_of(Session& session, std::string_view block) {
  if (session.inflater == nullptr) {
    nghttp2_hd_inflater* made = nullptr;
    require(nghttp2_hd_inflate_new(&made) == 0, "memory does not run out");
    session.inflater.reset(made);
  }
  std::string path;
  const auto* from = reinterpret_cast<const std::uint8_t*>(block.data());
  const auto* const end = from + block.size();
  while (true) {
    nghttp2_nv field{};
    int flags = 0;
    const auto read =
        nghttp2_hd_inflate_hd2(session.inflater.get(), &field, &flags, from, static_cast<std::size_t>(end - from), 1);
    require(read >= 0, "the client compresses its headers correctly");
    from += read;
    if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
      const std::string_view name(reinterpret_cast<const char*>(field.name), field.namelen);
      if (name == ":path") path.assign(reinterpret_cast<const char*>(field.value), field.valuelen);
    }
    if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) break;
    if (from == end && (flags & NGHTTP2_HD_INFLATE_EMIT) == 0) break;
  }
  nghttp2_hd_inflate_end_headers(session.inflater.get());
  return path;
}

void H2Peer::put_frame(std::size_t index, const Frame& frame, std::size_t size) {
  for (const auto part : {size >> 16U, size >> 8U, size, std::size_t{frame.type}, std::size_t{frame.flags},
                          std::size_t{frame.stream >> 24U}, std::size_t{frame.stream >> 16U},
                          std::size_t{frame.stream >> 8U}, std::size_t{frame.stream}}) {
    at(index).pending += static_cast<char>(part & 0xFFU);
  }
}

void H2Peer::put(std::size_t index, std::string_view bytes) {
  const auto& session = sessions_[index];
  if (bytes.empty()) return;
  at(index).pending += bytes;
  if (session.frame_end == 0) mark_odd(index, true);
  if (session.is_answer) streams_[*session.named].staged += bytes;
}

void H2Peer::begin_answer(std::size_t index, const Step& step, std::size_t at_step) {
  auto& connection = at(index);
  auto& session = sessions_[index];
  const auto& script = *connection.script;
  std::string status = "200";
  if (at_step + 1 < step.end && script[at_step + 1].kind == Step::Kind::text && script[at_step + 1].text.size() >= 3) {
    status = script[at_step + 1].text.substr(0, 3);
    connection.skip = 3;
  }
  session.named = oldest(index);
  session.frame_end = step.end;
  const bool interim = status[0] == '1';
  const auto size = size_of(index, at_step + 1, step.end) - connection.skip;
  session.ends_stream = !interim;
  session.is_answer = session.named.has_value();
  if (!session.named) mark_odd(index, true);  // an answer without a request
  const std::uint32_t id = session.named ? streams_[*session.named].id : 1;
  if (size > most_payload || (interim && size > 0) || !are_digits(status)) mark_odd(index, false);
  if (session.named && streams_[*session.named].answered) mark_odd(index, false);

  using namespace std::string_view_literals;
  const bool alone = size == 0;
  // An answer that may have a Content-Length gets one. Without a Content-Length, the library treats unterminated JSON
  // as truncated, because libcurl does not report every broken stream.
  const bool with_length = !interim && !(alone && (status == "204" || status == "304"));
  auto block =
      field("\x08"sv, status) + field("\x0F\x10"sv, "application/json") + field("\x00\x0Cx-request-id"sv, token(index));
  if (with_length) block += field("\x0F\x0D"sv, std::to_string(size));
  put_frame(index, {headers, static_cast<std::uint8_t>(end_headers | (alone && !interim ? end_stream : 0)), id},
            block.size());
  connection.pending += block;
  if (!alone) put_frame(index, {data, interim ? std::uint8_t{0} : end_stream, id}, size);
  if (!session.named) return;
  auto& staged = streams_[*session.named].staged;
  staged += "HTTP/1.1 " + status + " X\r\n";
  if (with_length) staged += "Content-Length: " + std::to_string(size) + "\r\n";
  staged += "\r\n";
}

void H2Peer::begin_frame(std::size_t index, const Step& step, std::size_t at_step) {
  auto& connection = at(index);
  auto& session = sessions_[index];
  const auto& script = *connection.script;
  std::string text;
  if (at_step + 1 < step.end && script[at_step + 1].kind == Step::Kind::text)
    text = script[at_step + 1].text.substr(0, 3);
  connection.skip = text.size();
  text.resize(3, 's');
  const auto number = [](char c) {
    const auto digit = std::string_view("0123456789abcdef").find(c);
    return static_cast<std::uint8_t>(digit == std::string_view::npos ? c : static_cast<char>(digit));
  };
  Frame frame{number(text[0]), number(text[1]), 0};
  session.named = text[2] == 'l' ? newest(index) : oldest(index);
  const std::uint32_t own = session.named ? streams_[*session.named].id : 1;
  if (text[2] == 's' || text[2] == 'l') {
    frame.stream = own;
  } else {
    frame.stream = text[2] == 'n' ? own + 2 : text[2] == 'e' ? 2U : text[2] == '0' ? 0U : number(text[2]);
    session.named.reset();
  }
  session.frame_end = step.end;
  const auto size = size_of(index, at_step + 1, step.end) - connection.skip;
  session.ends_stream = frame.type == rst_stream || (frame.type <= headers && (frame.flags & end_stream) != 0);
  const bool harmless = (frame.type == ping && frame.stream == 0 && frame.flags == 0 && size == 8) ||
                        (frame.type >= first_unknown && size <= most_payload);
  const bool with_head = frame.type == headers || frame.type == push_promise || frame.type == continuation;
  if (!harmless) mark_odd(index, with_head);
  put_frame(index, frame, size);
}

void H2Peer::step_done(std::size_t index) {
  auto& session = sessions_[index];
  if (session.frame_end == 0 || at(index).step < session.frame_end) return;
  if (session.named && session.ends_stream) streams_[*session.named].answered = true;
  session.named.reset();
  session.frame_end = 0;
  at(index).skip = 0;
  session.is_answer = false;
}

void H2Peer::mark_odd(std::size_t index, bool any_status) {
  auto& session = sessions_[index];
  session.odd = true;
  session.any_status = session.any_status || any_status;
  for (auto& stream : streams_) {
    if (stream.connection != index || stream.settled) continue;
    stream.sent.odd = true;
    if (!any_status) continue;
    stream.sent.any_status = true;
    stream.sent.bytes += '?';
  }
}

// Records the end of a connection. libcurl may or may not read an answer that was complete by then.
void H2Peer::mark_ended(std::size_t index) {
  for (auto& stream : streams_) {
    if (stream.connection != index || stream.settled) continue;
    stream.sent.ended = true;
    if (stream.answered) stream.sent.odd = true;
  }
}

}  // namespace billcore::fuzz
