// Common styles in which libraries write JSON. Internal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace billcore::detail {

struct JsonStyle {
  enum class Spacing : std::uint8_t { compact, spaced, indent2, indent4 };
  enum class NonAscii : std::uint8_t { lower_escapes, upper_escapes, raw };

  Spacing spacing;
  NonAscii non_ascii;
  bool escaped_slashes;
};

/// The style in which the service writes JSON: compact, "/" as "\/", non-ASCII as \uxxxx.
inline constexpr JsonStyle service_style{JsonStyle::Spacing::compact, JsonStyle::NonAscii::lower_escapes, true};

/// All styles; the service's style is the first.
[[nodiscard]] const std::array<JsonStyle, 24>& json_styles() noexcept;

/// Writes the same JSON in another style; numbers and the order of members are kept. `compact` must come from
/// compact_json(). Returns nullopt if the result would exceed `limit` bytes.
[[nodiscard]] std::optional<std::string> restyle_json(std::string_view compact, JsonStyle style, std::size_t limit);

/// Describes the style in fixed phrases.
[[nodiscard]] std::string describe(JsonStyle style);

}  // namespace billcore::detail
