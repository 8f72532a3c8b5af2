// Decodes bodies with content codings, whole and in pieces; compresses texts and reads them back.
//
// An input consists of a byte (the size of the pieces), a byte (what is compressed, and how), the lines of a head up to
// an empty line, and a body.
#include <algorithm>
#include <array>

#include "../core/support/compress.hpp"
#include "bytes.hpp"
#include "http/content_coding.hpp"

namespace {

using namespace billcore;
using namespace billcore::fuzz;
using test::compressed;
using test::Format;

constexpr std::size_t most_text = std::size_t{1} << 22U;

struct Decoded {
  detail::Transfer transfer;
  bool fitted = true;
};

Decoded decoded(std::string_view head, std::string_view body, std::size_t piece, std::size_t most = most_text) {
  Decoded out;
  out.transfer.head = head;
  detail::ContentCoding coding(head);
  while (!body.empty() && out.fitted) {
    out.fitted = coding.take(body.substr(0, piece), out.transfer.body, most);
    body.remove_prefix(std::min(piece, body.size()));
  }
  require(out.transfer.body.size() <= most, "a text has at most the bytes that are allowed");
  coding.end(out.transfer);
  require(out.transfer.reason.empty() || out.transfer.body.empty(), "a body that cannot be decoded gives no text");
  require(out.transfer.ending != detail::Ending::cut || !out.transfer.reason.empty(), "a cut body has its reason");
  return out;
}

void judge_any(std::string_view head, std::string_view body, std::size_t piece) {
  const auto whole = decoded(head, body, std::max<std::size_t>(body.size(), 1));
  const auto pieces = decoded(head, body, piece);
  require(whole.fitted == pieces.fitted, "the pieces of a body are as long as the whole");
  if (!whole.fitted) return;
  require(whole.transfer.body == pieces.transfer.body && whole.transfer.reason == pieces.transfer.reason &&
              whole.transfer.ending == pieces.transfer.ending,
          "the pieces of a body say what the whole says");
  const auto limited = decoded(head, body, piece, piece * 2);
  require(limited.fitted || whole.transfer.body.size() > piece * 2 || body.size() > piece * 2 ||
              !whole.transfer.reason.empty(),
          "a body is refused only when it is too long");
}

void judge_round_trip(std::string_view text, std::size_t piece, unsigned choice) {
  struct Named {
    Format format;
    const char* head;
  };
  constexpr std::array<Named, 3> formats{{{Format::gzip, "Content-Encoding: x-gzip\r\n"},
                                          {Format::deflate, "Content-Encoding: deflate\r\n"},
                                          {Format::raw_deflate, "Content-Encoding: DEFLATE\r\n"}}};
  const auto& [format, head] = formats.at(choice % formats.size());
  const auto half = format == Format::gzip && choice % 2 == 0 ? text.size() / 2 : text.size();
  auto body = compressed(std::string(text.substr(0, half)), format);
  if (half < text.size()) body += compressed(std::string(text.substr(half)), format);
  const auto read = decoded(head, body, piece);
  require(read.fitted && read.transfer.reason.empty() && read.transfer.body == text, "a compressed text is read back");
  const auto cut = decoded(head, std::string_view(body).substr(0, body.size() - 1), piece);
  require(cut.transfer.ending == detail::Ending::cut, "a compressed text that breaks off is noticed");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const std::size_t piece = 1 + bytes.below(200);
  const unsigned choice = bytes.byte();
  const auto rest = bytes.rest();
  const auto end = std::min(rest.find("\r\n\r\n"), rest.size());
  const auto body = rest.substr(std::min(end + 4, rest.size()));
  judge_any(rest.substr(0, end), body, piece);
  judge_round_trip(body, piece, choice);
  return 0;
}
