// Keeps secrets out of texts that people and logs see. Internal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace billcore::detail {

/// Replaces every occurrence of the API key, every absolute URL (a signed link into the billing portal is a secret), and the
/// values of the portal's members in JSON text. Each of them in any letter case, and as JSON, a URL or HTML may escape it,
/// also within each other; the key also in hex and base64, by itself or within a longer text. The result has at most
/// `limit` bytes, of which the time depends then; it is shorter when all that was read is secret.
[[nodiscard]] std::string scrub(std::string_view text, std::string_view api_key,
                                std::size_t limit = std::string_view::npos);

/// At most `limit` bytes of valid UTF-8: what is not becomes U+FFFD, the cut is at a character's border.
[[nodiscard]] std::string kept_text(std::string_view text, std::size_t limit);

/// One printable line of at most `limit` bytes, cut at a character's border.
[[nodiscard]] std::string one_line(std::string_view text, std::size_t limit);

}  // namespace billcore::detail
