// Finds the source text of a parsed value: yyjson keeps no offsets.
#pragma once

#include <cstddef>
#include <string_view>

namespace billcore::detail {

/// The text of token number `index` of valid JSON, where containers, keys and scalars count in the order they begin.
[[nodiscard]] std::string_view nth_token(std::string_view text, std::size_t index) noexcept;

}  // namespace billcore::detail
