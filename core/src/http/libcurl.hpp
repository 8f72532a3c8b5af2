// The version and defaults that libcurl reports, and libcurl's date parser. Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace billcore::detail {

/// The certificate file that libcurl was built to trust, if libcurl reports such a file.
[[nodiscard]] std::vector<std::string> own_trust();
/// Version of the libcurl in use, as 0xXXYYZZ for XX.YY.ZZ.
[[nodiscard]] unsigned libcurl_version() noexcept;

/// Converts an HTTP date to seconds since 1970; nullopt if the text is not an HTTP date.
[[nodiscard]] std::optional<std::int64_t> parse_http_date(std::string_view text);

}  // namespace billcore::detail
