// Parses heads and chunked bodies of answers, whole and in pieces: the pieces must say what the whole says. (What heads
// mean is judged by tests/core/http, and by the second judge of tests/faults/model.)
//
// An input consists of a byte (the size of the pieces), the lines of a head up to an empty line, and an encoded body.
#include <algorithm>

#include "bytes.hpp"
#include "http/chunked.hpp"
#include "http/head.hpp"

namespace {

using namespace billcore;
using namespace billcore::fuzz;

constexpr std::size_t no_limit = std::size_t{1} << 40U;

struct Unchunked {
  std::string data;
  bool ended;
  bool excess;
  bool fitted;
};

Unchunked unchunked(std::string_view coded, std::size_t piece, std::size_t most) {
  detail::ChunkedBody body;
  Unchunked out{{}, false, false, true};
  while (!coded.empty() && out.fitted) {
    out.fitted = body.take(coded.substr(0, piece), out.data, most);
    coded.remove_prefix(std::min(piece, coded.size()));
  }
  out.ended = body.ended();
  out.excess = body.has_excess();
  return out;
}

void judge_chunks(std::string_view text, std::size_t piece) {
  const auto whole = unchunked(text, std::max<std::size_t>(text.size(), 1), no_limit);
  const auto pieces = unchunked(text, piece, no_limit);
  require(whole.fitted && whole.data == pieces.data && whole.ended == pieces.ended && whole.excess == pieces.excess,
          "the pieces of a body say what the whole says");
  require(whole.data.size() <= text.size(), "a body is not longer than its coding");
  const auto limited = unchunked(text, piece, piece * 2);
  require(limited.data.size() <= piece * 2, "a body has at most the bytes that are allowed");
  require(limited.fitted == (whole.data.size() <= piece * 2), "a body is refused when it is too long only");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const std::size_t piece = 1 + bytes.below(40);
  auto rest = bytes.rest();
  detail::HeadReader head;
  std::string text;
  head.take("HTTP/1.1 200 OK\r\n");
  while (!rest.empty() && !head.ended()) {
    const auto line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
    rest.remove_prefix(line.size());
    head.take(line);
    if (!head.ended()) text += line;
  }
  require(head.text() == text, "the lines are kept as received");
  require(head.status() == 200 && !head.is_http2(), "a status line is recognised at the beginning only");
  static_cast<void>(detail::find_header(text, "content-length"));
  if (head.ended()) {
    const bool contradictory = head.is_contradictory();
    head.take("Content-Length: 1, 2\r\n");
    head.take("HTTP/1.1 500 X\r\n");
    require(head.text() == text && head.status() == 200 && head.is_contradictory() == contradictory,
            "what follows the head does not change it");
  }
  judge_chunks(rest, piece);
  return 0;
}
