// A text whose escapes are removed level by level, for searching. Internal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace billcore::detail {

/// A range in a text: [begin, end).
struct Span {
  std::size_t begin;
  std::size_t end;
};

/// A text with escapes removed; maps each character back to the source. A placeholder stands for an escaped non-ASCII
/// character. The source must outlive the object.
class Unescaped {
 public:
  explicit Unescaped(std::string_view source) : source_(source), text_(source) {}

  /// Removes one level of JSON, URL and HTML escapes, all three at once, since they may be nested in each other.
  /// Returns false when there is nothing to remove.
  bool unescape();

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// The range of the source that these characters of text() were read from.
  [[nodiscard]] Span place(Span in_text) const noexcept { return {begin(in_text.begin), begin(in_text.end)}; }
  /// One character of text() as spelt in the source.
  [[nodiscard]] std::string_view spelling(std::size_t index) const noexcept {
    return source_.substr(begin(index), begin(index + 1) - begin(index));
  }
  /// Whether the character was percent-encoded. Such a character is part of a URL, whatever it decodes to.
  [[nodiscard]] bool was_percent_encoded(std::size_t index) const noexcept {
    return !percent_.empty() && percent_[index];
  }

 private:
  [[nodiscard]] std::size_t begin(std::size_t index) const noexcept { return begins_.empty() ? index : begins_[index]; }

  std::string_view source_;
  std::string text_;
  std::vector<std::size_t> begins_;  // start of each character, and the end; empty: nothing was escaped
  std::vector<bool> percent_;
};

}  // namespace billcore::detail
