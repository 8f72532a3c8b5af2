// Removes secrets from texts that appear in errors and logs. Internal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace billcore::detail {

/// Replaces every occurrence of the API key, every absolute URL (a signed link to the billing portal is a secret), and
/// the values of the portal URL members in JSON text. Finds secrets in any letter case and with JSON, URL or HTML
/// escapes, nested ones included. Finds the key also as hex and base64, alone or inside a longer encoded text. The
/// result has at most `limit` bytes. The running time depends on `limit`, not on the size of the text.
[[nodiscard]] std::string scrub(std::string_view text, std::string_view api_key,
                                std::size_t limit = std::string_view::npos);

/// The first `limit` bytes of a text as valid UTF-8: each invalid byte becomes U+FFFD, and no character is split.
[[nodiscard]] std::string kept_text(std::string_view text, std::size_t limit);

/// The first `limit` bytes of a text as one printable line, with "..." if the text is longer; no character is split.
[[nodiscard]] std::string one_line(std::string_view text, std::size_t limit);

}  // namespace billcore::detail
