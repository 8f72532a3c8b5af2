#include "support.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "billcore/detail/document.hpp"

namespace billcore::fuzz {

void require(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at++]);
    if (lead < 0x80) continue;
    const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4) return false;
    std::uint32_t point = lead & (0x3FU >> static_cast<unsigned>(more));
    for (int i = 0; i < more; ++i) {
      if (at == text.size()) return false;
      const auto byte = static_cast<unsigned char>(text[at++]);
      if ((byte & 0xC0U) != 0x80U) return false;
      point = (point << 6U) | (byte & 0x3FU);
    }
    constexpr std::array<std::uint32_t, 4> least{0, 0x80, 0x800, 0x10000};
    if (point < least.at(static_cast<std::size_t>(more)) || point > 0x10FFFF) return false;
    if (point >= 0xD800 && point <= 0xDFFF) return false;
  }
  return true;
}

bool is_one_line(std::string_view text) {
  if (text.empty() || !is_utf8(text)) return false;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return false;
  }
  return true;
}

void require_readable(const Error& error) {
  if (!is_one_line(error.message())) std::fprintf(stderr, "%s\n", error.what());
  require(is_one_line(error.message()), "an error is one line of text");
  require(error.message() == error.what(), "what() is the whole message");
}

void require_decode(const Error& error) {
  const auto code = error.code();
  require(code == ErrorCode::decode || code == ErrorCode::missing_field || code == ErrorCode::out_of_range,
          "reading an event gives no other errors than decode, missing_field and out_of_range");
  require_readable(error);
}

Value parse(std::string_view text) {
  auto document = detail::Document::parse(SharedText::own(std::string(text)));
  const auto* root = document->root();
  return {std::move(document), root};
}

}  // namespace billcore::fuzz
