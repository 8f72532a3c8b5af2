// Removes secrets from texts that appear in errors and logs. Internal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace billcore::detail {

/// Replaces every occurrence of the API key, every absolute URL (a signed link to the billing portal is a secret), and
/// the values of the portal URL members in JSON text. Matches in any letter case and with JSON, URL or HTML escapes,
/// nested ones included; the key also in hex and base64, alone or inside a longer text. The result has at most `limit`
/// bytes, fewer if everything that was read is secret. The running time depends on `limit` instead of the size of the
/// text.
[[nodiscard]] std::string scrub(std::string_view text, std::string_view api_key,
                                std::size_t limit = std::string_view::npos);

/// At most `limit` bytes of valid UTF-8: invalid bytes become U+FFFD, and no character is split.
[[nodiscard]] std::string kept_text(std::string_view text, std::size_t limit);

/// One printable line of at most `limit` bytes; no character is split.
[[nodiscard]] std::string one_line(std::string_view text, std::size_t limit);

}  // namespace billcore::detail
