// UTF-8 validation. Internal.
#pragma once

#include <cstddef>
#include <string_view>

namespace billcore::detail {

/// Length of the longest valid UTF-8 prefix of `text`, in bytes.
[[nodiscard]] std::size_t utf8_prefix(std::string_view text) noexcept;
[[nodiscard]] inline bool valid_utf8(std::string_view text) noexcept { return utf8_prefix(text) == text.size(); }

}  // namespace billcore::detail
