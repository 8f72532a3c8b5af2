// Building request targets. Internal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "billcore/values.hpp"

namespace billcore::detail {

/// Checks a base URL (https, or http where allowed; no query, fragment, credentials) cuts a slash off its end, and puts
/// the scheme in lower case, which all else relies on. Error(config).
[[nodiscard]] std::string checked_base_url(std::string_view url, bool allow_insecure_http);

/// Is this host (of a URL) this machine? "localhost", 127.0.0.0/8, ::1.
[[nodiscard]] bool is_loopback(std::string_view host);

/// Is a segment of this path `.` or `..`, also percent-encoded? Servers and proxies take it for a step out of the account.
[[nodiscard]] bool has_dot_segment(std::string_view path) noexcept;

/// Percent-encodes everything but RFC 3986's unreserved characters.
[[nodiscard]] std::string percent_encode(std::string_view text);

/// An id as one path segment. Error(invalid_argument) for what cannot be one: empty, `.`, `..`, CR, LF, NUL.
[[nodiscard]] std::string path_segment(const Id& id);

/// `a=1&b=2`, names and values encoded.
[[nodiscard]] std::string query_string(const std::vector<std::pair<std::string, std::string>>& query);

}  // namespace billcore::detail
