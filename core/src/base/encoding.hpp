// Encodes and decodes hex, base64 and percent-encoding. Internal.
//
// The output type is a template parameter, so that a caller can write secrets into a container that overwrites its
// memory when it is freed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace billcore::detail {

inline constexpr std::string_view hex_digits = "0123456789abcdef";
inline constexpr std::string_view upper_hex_digits = "0123456789ABCDEF";
inline constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
inline constexpr std::string_view base64url_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The value of a hex digit in upper or lower case; -1 for other characters.
[[nodiscard]] constexpr int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Decodes hex digits in upper or lower case and appends the bytes. Returns false if the text is empty or contains
/// anything but pairs of hex digits.
template <typename Bytes>
[[nodiscard]] bool decode_hex_text(std::string_view text, Bytes& out) {
  if (text.empty() || text.size() % 2 != 0) return false;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_value(text[i]);
    const int low = hex_value(text[i + 1]);
    if (high < 0 || low < 0) return false;
    out.push_back(static_cast<char>(high * 16 + low));
  }
  return true;
}

/// Appends two hex digits for each byte.
template <typename Bytes>
void encode_hex_text(std::string_view bytes, std::string_view digits, Bytes& out) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.push_back(digits[byte >> 4U]);
    out.push_back(digits[byte & 15U]);
  }
}

/// The value of each base64 digit, standard or URL-safe; -1 for other characters.
inline constexpr auto base64_values = [] {
  std::array<signed char, 256> values{};
  values.fill(-1);
  for (const auto digits : {base64_digits, base64url_digits}) {
    for (std::size_t i = 0; i < digits.size(); ++i)
      values[static_cast<unsigned char>(digits[i])] = static_cast<signed char>(i);
  }
  return values;
}();

/// Decodes base64 (standard or URL-safe, with or without padding and line ends) and appends the bytes. Returns false
/// if the text is empty or is not base64. More lenient than RFC 4648: one text may mix both alphabets, and unused
/// bits need not be 0.
template <typename Bytes>
[[nodiscard]] bool decode_base64(std::string_view text, Bytes& out) {
  std::uint32_t bits = 0;
  unsigned have = 0;
  std::size_t digits = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const auto value = base64_values[static_cast<unsigned char>(c)];
    if (value < 0 || padding > 0) return false;
    ++digits;
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    have += 6;
    if (have >= 8) {
      have -= 8;
      out.push_back(static_cast<char>(bits >> have & 0xFFU));
    }
  }
  return digits > 0 && digits % 4 != 1 && (padding == 0 || (padding < 3 && (digits + padding) % 4 == 0));
}

/// Appends the bytes as base64 without padding.
template <typename Bytes>
void encode_base64(std::string_view bytes, std::string_view digits, Bytes& out) {
  const auto begin = out.size();
  out.resize(begin + (bytes.size() * 4 + 2) / 3);
  auto* to = out.data() + begin;
  const auto byte = [](char c) { return std::uint32_t{static_cast<unsigned char>(c)}; };
  for (; bytes.size() >= 3; bytes.remove_prefix(3), to += 4) {
    const auto bits = byte(bytes[0]) << 16U | byte(bytes[1]) << 8U | byte(bytes[2]);
    to[0] = digits[bits >> 18U];
    to[1] = digits[bits >> 12U & 63U];
    to[2] = digits[bits >> 6U & 63U];
    to[3] = digits[bits & 63U];
  }
  if (bytes.empty()) return;
  const auto bits = byte(bytes[0]) << 16U | (bytes.size() > 1 ? byte(bytes[1]) << 8U : 0U);
  to[0] = digits[bits >> 18U];
  to[1] = digits[bits >> 12U & 63U];
  if (bytes.size() > 1) to[2] = digits[bits >> 6U & 63U];
}

/// Appends the text with each %XX decoded and, if `form` is true, each "+" replaced by a space. Returns false if the
/// text contains no %XX or an invalid one.
template <typename Bytes>
[[nodiscard]] bool decode_percent(std::string_view text, bool form, Bytes& out) {
  bool found = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
      if (high < 0 || low < 0) return false;
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
      found = true;
    } else {
      out.push_back(form && text[i] == '+' ? ' ' : text[i]);
    }
  }
  return found;
}

}  // namespace billcore::detail
