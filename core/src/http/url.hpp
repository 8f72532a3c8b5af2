// Builds request URLs. Internal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "billcore/values.hpp"

namespace billcore::detail {

/// Validates a base URL (https, or http where allowed; no query, fragment or credentials), removes trailing slashes,
/// and converts the scheme to lower case, as other code expects. Throws Error(config).
[[nodiscard]] std::string checked_base_url(std::string_view url, bool allow_insecure_http);

/// Whether a URL's host name means the local machine: "localhost", 127.0.0.0/8 or ::1.
[[nodiscard]] bool is_loopback(std::string_view host);

/// Whether a segment of the path is `.` or `..`, possibly percent-encoded. Servers and proxies resolve `.` and `..`, so
/// a path with these segments could lead to another account.
[[nodiscard]] bool has_dot_segment(std::string_view path) noexcept;

/// Percent-encodes everything except RFC 3986's unreserved characters.
[[nodiscard]] std::string percent_encode(std::string_view text);

/// Encodes an id as one path segment. Throws Error(invalid_argument) if the id is empty, `.` or `..`, is not valid
/// UTF-8, or contains CR, LF or NUL.
[[nodiscard]] std::string path_segment(const Id& id);

/// A query such as `a=1&b=2`, with names and values encoded.
[[nodiscard]] std::string query_string(const std::vector<std::pair<std::string, std::string>>& query);

}  // namespace billcore::detail
