// Is it UTF-8? Internal.
#pragma once

#include <cstddef>
#include <string_view>

namespace billcore::detail {

/// How many bytes of `text` are valid UTF-8 from its beginning.
[[nodiscard]] std::size_t utf8_prefix(std::string_view text) noexcept;
[[nodiscard]] inline bool valid_utf8(std::string_view text) noexcept { return utf8_prefix(text) == text.size(); }

}  // namespace billcore::detail
