// Finds the source text of a parsed value, since yyjson stores no offsets.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace billcore::detail {

/// The place of a token: token number `index` begins at byte `offset`. The root is {0, 0}.
struct TokenPlace {
  std::size_t index = 0;
  std::size_t offset = 0;
};

/// The text of token number `index` of valid JSON; containers, keys and scalars are numbered in the order in which they
/// begin. `from` is the known place of token `index` or of an earlier token.
[[nodiscard]] std::string_view nth_token(std::string_view text, std::size_t index, TokenPlace from = {}) noexcept;

/// Depth and number of values of a JSON text. `values` may be more than the real number of values, and includes the
/// member names.
struct Extent {
  std::size_t depth = 0;
  std::size_t values = 0;
};

/// Estimates the extent of a JSON text from its brackets, commas and colons: faster than parsing, and without
/// allocation. Stops, and returns the result so far, when the depth or the number of values exceeds `limit`.
[[nodiscard]] Extent extent(std::string_view text, Extent limit) noexcept;

/// Returns the reason why a body must not be parsed: the body is nested too deeply, or its values would take many times
/// its size in memory. Returns an empty text if the body may be parsed, as every short body may. A body with a verified
/// signature needs no call of problem_of_extent().
[[nodiscard]] std::string problem_of_extent(std::string_view text);

/// Whether a JSON text is incomplete; true for an empty text. Checks only brackets and strings, so false does not mean
/// that the text is valid.
[[nodiscard]] bool ends_within_json(std::string_view text) noexcept;
/// Whether a JSON text is certainly complete. False for an incomplete text, for a number (which may be the beginning of
/// a longer one), and for text that is not JSON. Checks only brackets and strings, like ends_within_json().
[[nodiscard]] bool shows_its_end(std::string_view text) noexcept;

}  // namespace billcore::detail
