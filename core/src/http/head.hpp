// The head of an answer: its header lines, and what they say about the body's framing. Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace billcore::detail {

/// Calls `each(name, value)` for every header, both without white space around them, until it says true.
template <typename Each>
void for_each_header(std::string_view head, Each each) {
  while (!head.empty()) {
    const auto line = head.substr(0, head.find('\n'));
    head.remove_prefix(std::min(line.size() + 1, head.size()));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) continue;
    if (each(trim(line.substr(0, colon)), trim(line.substr(colon + 1)))) return;
  }
}

/// Value of the first header of this name (in lower case); empty without one.
[[nodiscard]] inline std::string_view find_header(std::string_view head, std::string_view name) noexcept {
  std::string_view found;
  for_each_header(head, [&](std::string_view key, std::string_view value) {
    const bool same = equal_ignoring_case(key, name);
    if (same) found = value;
    return same;
  });
  return found;
}

/// Collects the header lines of one answer as libcurl delivers them. The lines themselves are parsed later, if at all; only
/// what frames the body is looked at here.
class HeadReader {
 public:
  /// One line with its line end. A status line after an interim answer (1xx) starts anew; what follows the final head is a
  /// trailer, which is ignored.
  void take(std::string_view line);

  /// Has the whole final head arrived?
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  /// Of its status line; 0 when that is not one of HTTP.
  [[nodiscard]] int status() const noexcept { return status_; }
  [[nodiscard]] bool is_http2() const noexcept { return http2_; }
  /// Is the body in the chunked transfer coding (HTTP/1.1)?
  [[nodiscard]] bool is_chunked() const noexcept { return chunked_; }
  /// Content-Length; nothing without one, or beside the chunked coding, which overrides it.
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept { return chunked_ ? std::nullopt : length_; }
  /// Several lengths that differ, or one that is not a number: where the body ends cannot be known.
  [[nodiscard]] bool is_contradictory() const noexcept { return contradictory_; }
  /// Does the head say that no body follows?
  [[nodiscard]] bool is_bodyless() const noexcept { return status_ == 204 || status_ == 304 || length() == 0U; }
  /// Does the head, or the coding, say where the body ends?
  [[nodiscard]] bool frames_the_body() const noexcept { return chunked_ || length_ || is_bodyless(); }
  /// The header lines, without status line and empty line.
  [[nodiscard]] std::string& text() noexcept { return text_; }

 private:
  void begin(std::string_view status_line);
  void look_at_framing(std::string_view line);

  std::string text_;
  std::optional<std::uint64_t> length_;
  int status_ = 0;
  bool begun_ = false;
  bool ended_ = false;
  bool http2_ = false;
  bool chunked_ = false;
  bool contradictory_ = false;
};

}  // namespace billcore::detail
