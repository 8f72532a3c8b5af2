// The head of an answer: its header lines, and the framing of the body that they declare. Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace billcore::detail {

/// Calls `each(name, value)`, both trimmed, for every header until `each` returns true.
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

/// Value of the first header with this name; empty if absent. `name` must be in lower case.
[[nodiscard]] inline std::string_view find_header(std::string_view head, std::string_view name) noexcept {
  std::string_view found;
  for_each_header(head, [&](std::string_view key, std::string_view value) {
    const bool same = equal_ignoring_case(key, name);
    if (same) found = value;
    return same;
  });
  return found;
}

/// Calls `each` for every element of a comma-separated header value, trimmed.
template <typename Each>
void for_each_element(std::string_view value, Each each) {
  while (true) {
    const auto comma = value.find(',');
    each(trim(value.substr(0, comma)));
    if (comma == std::string_view::npos) return;
    value.remove_prefix(comma + 1);
  }
}

inline constexpr std::string_view content_coding_name = "content-encoding";
inline constexpr std::string_view transfer_coding_name = "transfer-encoding";

/// Collects the header lines of one answer as libcurl delivers them. Parses only the headers that determine the length
/// and the codings of the body; all other headers are parsed later, if needed.
class HeadReader {
 public:
  /// Makes the object ready for another answer.
  void clear() noexcept {
    text_.clear();
    found_ = {};
  }
  /// Takes one header line, including its line end. A status line after an interim answer (1xx) begins a
  /// new head; lines after the final head are trailers, which are ignored.
  void take(std::string_view line);

  /// Whether the final head is complete.
  [[nodiscard]] bool ended() const noexcept { return found_.ended; }
  /// Status from the status line; 0 if the line is not valid HTTP.
  [[nodiscard]] int status() const noexcept { return found_.status; }
  [[nodiscard]] bool is_http2() const noexcept { return found_.http2; }
  /// Whether the body is in the chunked transfer coding (HTTP/1.1).
  [[nodiscard]] bool is_chunked() const noexcept { return found_.chunked; }
  /// Whether the head names a coding of the body other than chunked; see content_coding.hpp.
  [[nodiscard]] bool has_coding() const noexcept { return found_.coded; }
  /// Content-Length; nullopt if absent, or if overridden by chunked coding.
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept {
    return found_.chunked ? std::nullopt : found_.length;
  }
  /// Whether the end of the body is unknown, because Content-Length has several different values or is not a number.
  [[nodiscard]] bool is_contradictory() const noexcept { return found_.contradictory; }
  /// Whether the head implies an empty body.
  [[nodiscard]] bool is_bodyless() const noexcept {
    return found_.status == 204 || found_.status == 304 || length() == 0U;
  }
  /// Whether the head or the transfer coding defines the end of the body.
  [[nodiscard]] bool frames_the_body() const noexcept { return found_.chunked || found_.length || is_bodyless(); }
  /// The header lines, without the status line and the empty line.
  [[nodiscard]] std::string& text() noexcept { return text_; }

 private:
  void begin(std::string_view status_line);
  void look_at_length(std::string_view value);
  void look_at_coding(std::string_view value);

  struct Found {
    std::optional<std::uint64_t> length;
    int status = 0;
    bool begun = false;
    bool ended = false;
    bool http2 = false;
    bool chunked = false;
    bool coded = false;
    bool contradictory = false;
  };

  std::string text_;
  Found found_;
};

}  // namespace billcore::detail
