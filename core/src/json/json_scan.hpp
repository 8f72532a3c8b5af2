// Finds the source text of a parsed value: yyjson keeps no offsets.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace billcore::detail {

/// A token that begins at this byte; the root's place is {0, 0}.
struct TokenPlace {
  std::size_t index = 0;
  std::size_t offset = 0;
};

/// The text of token number `index` of valid JSON, where containers, keys and scalars count in the order they begin; `from` is a
/// place known already, not behind it.
[[nodiscard]] std::string_view nth_token(std::string_view text, std::size_t index, TokenPlace from = {}) noexcept;

/// What a parser would have to hold. values: at the most, members' names included.
struct Extent {
  std::size_t depth = 0;
  std::size_t values = 0;
};

/// Of a JSON text, judged by its brackets, commas and colons; faster than parsing it, and without memory. Ends early, with
/// what was found so far, when one of both is over its limit.
[[nodiscard]] Extent extent(std::string_view text, Extent limit) noexcept;

/// Why a body that was not asked to be so is not to be parsed: it would take many times its size. Empty for one that may be.
/// A short one always may; what a signature vouches for does not need this.
[[nodiscard]] std::string problem_of_extent(std::string_view text);

/// Is this the beginning of a JSON text that needs more to be whole? True for one that is empty. Only brackets and strings are
/// looked at, so false does not say that it is valid.
[[nodiscard]] bool ends_within_json(std::string_view text) noexcept;

}  // namespace billcore::detail
