// A text with its escapes taken off, level by level, for a search. Internal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace billcore::detail {

/// A place in a text: [begin, end).
struct Span {
  std::size_t begin;
  std::size_t end;
};

/// Knows for each of its characters where the source has it. A character that is not ASCII stands for some such character
/// where it was escaped. The source must outlive this.
class Unescaped {
 public:
  explicit Unescaped(std::string_view source) : source_(source), text_(source) {}

  /// Takes off one level of the escapes of JSON, URLs and HTML, all three at once, since one may stand within another.
  /// False when the text has none.
  bool unescape();

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// Where the source has these characters of text().
  [[nodiscard]] Span place(Span in_text) const noexcept { return {begin(in_text.begin), begin(in_text.end)}; }
  /// One character of text() as the source spells it.
  [[nodiscard]] std::string_view spelling(std::size_t index) const noexcept {
    return source_.substr(begin(index), begin(index + 1) - begin(index));
  }
  /// Was it percent-encoded? Within a URL such a character is a part of it, whatever it is.
  [[nodiscard]] bool was_percent_encoded(std::size_t index) const noexcept {
    return !percent_.empty() && percent_[index];
  }

 private:
  [[nodiscard]] std::size_t begin(std::size_t index) const noexcept { return begins_.empty() ? index : begins_[index]; }

  std::string_view source_;
  std::string text_;
  std::vector<std::size_t> begins_;  // of each character, and of the end; empty: nothing was escaped
  std::vector<bool> percent_;
};

}  // namespace billcore::detail
