// Parses heads and chunked bodies of answers, whole and in pieces, and compares the results with a separate parser.
//
// An input consists of a byte (the size of the pieces), the lines of a head up to an empty line, and an encoded body.
#include <algorithm>
#include <charconv>
#include <map>
#include <vector>

#include "bytes.hpp"
#include "http/chunked.hpp"
#include "http/head.hpp"

namespace {

using namespace billcore;
using namespace billcore::fuzz;

constexpr std::size_t no_limit = std::size_t{1} << 40U;

std::string lowered(std::string_view text) {
  std::string out(text);
  for (auto& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

std::string_view bare(std::string_view text) {
  while (!text.empty() && std::string_view(" \t\r\n").find(text.front()) != std::string_view::npos)
    text.remove_prefix(1);
  while (!text.empty() && std::string_view(" \t\r\n").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  return text;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Returns the comma-separated elements of all headers with this name.
std::vector<std::string> elements(const std::vector<std::string>& lines, std::string_view name) {
  std::vector<std::string> out;
  for (const auto& line : lines) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || lowered(bare(line.substr(0, colon))) != name) continue;
    // Skips a line that begins with white space: such a line continues the previous one, which is obsolete syntax.
    if (line.front() == ' ' || line.front() == '\t' || line.front() == '\r') continue;
    auto rest = std::string_view(line).substr(colon + 1);
    while (true) {
      const auto comma = std::min(rest.find(','), rest.size());
      out.emplace_back(bare(rest.substr(0, comma)));
      if (comma == rest.size()) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return out;
}

std::string digits_of(const std::string& number) {
  const auto first = std::min(number.find_first_not_of('0'), number.size() - 1);
  return number.substr(first);
}

bool fits(const std::string& digits) {
  constexpr std::string_view most = "18446744073709551615";
  return digits.size() < most.size() || (digits.size() == most.size() && digits <= most);
}

void judge_framing(const detail::HeadReader& head, const std::vector<std::string>& lines) {
  bool chunked = false;
  bool coded = !elements(lines, "content-encoding").empty();
  for (const auto& coding : elements(lines, "transfer-encoding")) {
    chunked = chunked || lowered(coding) == "chunked";
    coded = coded || lowered(coding) != "chunked";
  }
  require(head.has_coding() == coded, "a body has a coding exactly when the head declares one");
  require(head.is_chunked() == (chunked && !head.is_http2()), "a body is chunked exactly when the head declares it");
  std::string length;
  bool odd = false;
  for (const auto& each : elements(lines, "content-length")) {
    const bool good = is_number(each) && fits(digits_of(each));
    const auto digits = good ? digits_of(each) : std::string();
    odd = odd || !good || (!length.empty() && length != digits);
    length = digits;
  }
  require(head.is_contradictory() == odd, "a head contradicts itself when its lengths do");
  if (odd || head.is_chunked()) return;
  require(head.length().has_value() == !length.empty(), "a length is found if there is one");
  require(length.empty() || std::to_string(*head.length()) == length, "a length is that of the head");
}

void judge_look_up(const std::vector<std::string>& lines, std::string_view text) {
  std::map<std::string, std::string> first;
  for (const auto& line : lines) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || colon == 0) continue;
    first.emplace(lowered(bare(line.substr(0, colon))), bare(line.substr(colon + 1)));
  }
  for (const auto& [name, value] : first)
    require(detail::find_header(text, name) == value, "the first header of a name is found");
  if (!first.contains("no-such-name"))
    require(detail::find_header(text, "no-such-name").empty(), "an absent header is not found");
}

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

  // The test encodes the text as a chunked body. The library must read back the text and detect the bytes after the
  // body.
  std::string coded;
  for (auto rest = text; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size()))) {
    const auto part = rest.substr(0, piece);
    std::array<char, 24> size{};
    *std::to_chars(size.data(), size.data() + size.size() - 1, part.size(), 16).ptr = '\0';
    coded.append(size.data()).append(piece % 2 == 0 ? ";x=\"1\"\r\n" : "\r\n").append(part).append("\r\n");
  }
  coded += "0\r\n";
  if (piece % 3 == 0) coded += "X-Trailer: 1\r\n";
  const auto cut = unchunked(coded, piece, no_limit);
  require(cut.data == text && !cut.ended && !cut.excess, "a truncated coding has no end");
  const auto read = unchunked(coded + "\r\n", piece, no_limit);
  require(read.data == text && read.ended && !read.excess, "encoded data is read back");
  const auto more = unchunked(coded + "\r\n" + "H", piece, no_limit);
  require(more.data == text && more.ended && more.excess, "bytes after the end are detected");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const std::size_t piece = 1 + bytes.below(40);
  auto rest = bytes.rest();
  detail::HeadReader head;
  std::vector<std::string> lines;
  head.take("HTTP/1.1 200 OK\r\n");
  while (!rest.empty() && !head.ended()) {
    const auto line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
    rest.remove_prefix(line.size());
    head.take(line);
    if (!head.ended()) lines.emplace_back(line);
  }
  std::string text;
  for (const auto& line : lines) text += line;
  require(head.text() == text, "the lines are kept as received");
  require(head.status() == 200 && !head.is_http2(), "a status line is recognised at the beginning only");
  judge_framing(head, lines);
  judge_look_up(lines, text);
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
