// A text whose escapes are removed level by level, for searching. Internal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace billcore::detail {

/// A search removes at most this many levels of nested escapes, which limits its running time.
inline constexpr int max_escape_levels = 8;

/// A range in a text: [begin, end).
struct Span {
  std::size_t begin;
  std::size_t end;
};

/// A text with its escapes removed; maps each character back to the source. An escaped non-ASCII character becomes a
/// placeholder. The source must outlive the object.
class Unescaped {
 public:
  explicit Unescaped(std::string_view source) : source_(source), text_(source) {}

  /// Removes one level of JSON, URL and HTML escapes, in one pass, because escapes of different kinds may be nested.
  /// Returns false if the text contains no escapes.
  bool unescape();

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// Converts a range of text() to the corresponding range of the source.
  [[nodiscard]] Span place(Span in_text) const noexcept { return {begin(in_text.begin), begin(in_text.end)}; }
  /// One character of text() as it is spelt in the source.
  [[nodiscard]] std::string_view spelling(std::size_t index) const noexcept {
    return source_.substr(begin(index), begin(index + 1) - begin(index));
  }
  /// Whether the character was percent-encoded. A percent-encoded character is part of a URL even if the decoded
  /// character is not allowed in URLs.
  [[nodiscard]] bool was_percent_encoded(std::size_t index) const noexcept {
    return !percent_.empty() && percent_[index];
  }

 private:
  [[nodiscard]] std::size_t begin(std::size_t index) const noexcept { return begins_.empty() ? index : begins_[index]; }

  std::string_view source_;
  std::string text_;
  std::vector<std::size_t> begins_;  // source offset of each character of text(), and of the end; empty: no escapes
  std::vector<bool> percent_;
};

}  // namespace billcore::detail
