// Helpers for ASCII text, independent of the locale. Internal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace billcore::detail {

[[nodiscard]] constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] inline std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) { return lower(c); });
  return out;
}

/// Whether two texts are equal without regard to case; `lowered` must be in lower case.
[[nodiscard]] constexpr bool equal_ignoring_case(std::string_view text, std::string_view lowered) noexcept {
  return std::equal(text.begin(), text.end(), lowered.begin(), lowered.end(),
                    [](char a, char b) { return lower(a) == b; });
}

template <typename Number>
[[nodiscard]] inline bool same(const char* a, const char* b) noexcept {
  return std::memcmp(a, b, sizeof(Number)) == 0;  // the compiler emits a single comparison
}

/// Whether two names of the same length are equal. Used instead of memcmp(): most names are so short that the call
/// would cost more than the comparison.
[[nodiscard]] inline bool same_bytes(const char* a, const char* b, std::size_t count) noexcept {
  if (count >= 8) {
    if (!same<std::uint64_t>(a, b) || !same<std::uint64_t>(a + count - 8, b + count - 8)) return false;
    return count <= 16 || std::memcmp(a + 8, b + 8, count - 16) == 0;
  }
  if (count >= 4) return same<std::uint32_t>(a, b) && same<std::uint32_t>(a + count - 4, b + count - 4);
  if (count >= 2) return same<std::uint16_t>(a, b) && same<std::uint16_t>(a + count - 2, b + count - 2);
  return count == 0 || *a == *b;
}

/// Whether a character is a control character: a line end, tab, NUL, DEL and so on.
[[nodiscard]] constexpr bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

/// Whether a text is a valid HTTP header name (RFC 9110, 5.6.2).
[[nodiscard]] constexpr bool is_token(std::string_view text) noexcept {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [others](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           others.find(c) != std::string_view::npos;
  });
}

/// The text without leading and trailing white space and line ends.
[[nodiscard]] constexpr std::string_view trim(std::string_view text) noexcept {
  // These loops are faster than string_view::find_first_not_of(), which calls memchr() for each character.
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace billcore::detail
