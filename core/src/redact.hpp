// Keeps secrets out of texts that people and logs see. Internal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace billcore::detail {

/// Replaces every occurrence of the API key (also as JSON, a URL or HTML may write it, or each within its own kind), every
/// absolute URL (a signed link into the billing portal is a secret), and the values of the portal's members in JSON text.
/// One pass; stops when the result has reached `limit` bytes.
[[nodiscard]] std::string scrub(std::string_view text, std::string_view api_key,
                                std::size_t limit = std::string_view::npos);

/// At most `limit` bytes of valid UTF-8: what is not becomes U+FFFD, the cut is at a character's border.
[[nodiscard]] std::string kept_text(std::string_view text, std::size_t limit);

/// One printable line of at most `limit` bytes, cut at a character's border.
[[nodiscard]] std::string one_line(std::string_view text, std::size_t limit);

}  // namespace billcore::detail
