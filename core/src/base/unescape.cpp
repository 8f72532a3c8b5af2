#include "base/unescape.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/encoding.hpp"

namespace billcore::detail {
namespace {

struct Escape {
  std::size_t size = 0;  // 0: not an escape
  char meaning = '\0';
};

constexpr char not_ascii = '\x80';

// Reads a number of at most `most` digits; sets `size` to the number of digits read.
unsigned read_digits(std::string_view text, unsigned base, std::size_t most, std::size_t& size) noexcept {
  constexpr unsigned large = 0x110000;
  unsigned value = 0;
  for (size = 0; size < std::min(text.size(), most); ++size) {
    const int digit = hex_value(text[size]);
    if (digit < 0 || static_cast<unsigned>(digit) >= base) break;
    value = std::min(value * base + static_cast<unsigned>(digit), large);
  }
  return value;
}

char character(unsigned code) noexcept { return code < 0x80 ? static_cast<char>(code) : not_ascii; }

// Reads an escape: a prefix of `mark` characters, then exactly `digits` hex digits.
Escape read_hex(std::string_view text, std::size_t mark, std::size_t digits) noexcept {
  std::size_t size = 0;
  const unsigned code = read_digits(text.substr(mark), 16, digits, size);
  return size == digits ? Escape{mark + digits, character(code)} : Escape{};
}

// Reads a backslash escape of JSON, JavaScript or Python.
Escape read_backslash(std::string_view text) noexcept {
  constexpr std::string_view letters = "bfnrt";
  constexpr std::string_view meanings = "\b\f\n\r\t";
  const char next = text.size() > 1 ? text[1] : '\0';
  if (next == 'u') return read_hex(text, 2, 4);
  if (next == 'x') return read_hex(text, 2, 2);
  if (const auto at = letters.find(next); at != std::string_view::npos) return {2, meanings[at]};
  const bool letter = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') || (next >= '0' && next <= '9');
  return letter || next <= ' ' || next > '~' ? Escape{} : Escape{2, next};
}

Escape read_ampersand(std::string_view text) noexcept {
  constexpr std::size_t longest = 16;  // number of digits, including leading zeros
  // The names that XML predefines: HTML escapers write these, and numbers for all other characters.
  constexpr std::array<std::pair<std::string_view, char>, 5> names{
      {{"amp;", '&'}, {"lt;", '<'}, {"gt;", '>'}, {"quot;", '"'}, {"apos;", '\''}}};
  if (text.substr(1).starts_with('#')) {
    const bool hex = text.size() > 2 && (text[2] == 'x' || text[2] == 'X');
    const std::size_t mark = hex ? 3 : 2;
    std::size_t size = 0;
    const unsigned code = read_digits(text.substr(std::min(mark, text.size())), hex ? 16 : 10, longest, size);
    const bool ended = size > 0 && text.substr(mark + size).starts_with(';');
    return ended ? Escape{mark + size + 1, character(code)} : Escape{};
  }
  for (const auto& [name, meaning] : names) {
    if (text.substr(1).starts_with(name)) return {1 + name.size(), meaning};
  }
  return {};
}

Escape read_escape(std::string_view text) noexcept {
  switch (text.front()) {
    case '\\':
      return read_backslash(text);
    case '%':
      return read_hex(text, 1, 2);
    case '&':
      return read_ampersand(text);
    default:
      return {};
  }
}

}  // namespace

bool Unescaped::unescape() {
  constexpr std::string_view marks = "\\%&";
  std::size_t at = text_.find_first_of(marks);
  while (at != std::string::npos && read_escape(std::string_view(text_).substr(at)).size == 0) {
    at = text_.find_first_of(marks, at + 1);
  }
  if (at == std::string::npos) return false;

  std::string text;
  std::vector<std::size_t> begins;
  std::vector<bool> percent;
  text.reserve(text_.size());
  begins.reserve(text_.size() + 1);
  percent.reserve(text_.size());
  for (std::size_t i = 0; i < text_.size();) {
    const auto escape = read_escape(std::string_view(text_).substr(i));
    text += escape.size == 0 ? text_[i] : escape.meaning;
    begins.push_back(begin(i));
    percent.push_back(was_percent_encoded(i) || (escape.size > 0 && text_[i] == '%'));
    i += std::max(escape.size, std::size_t{1});
  }
  begins.push_back(source_.size());
  text_ = std::move(text);
  begins_ = std::move(begins);
  percent_ = std::move(percent);
  return true;
}

}  // namespace billcore::detail
