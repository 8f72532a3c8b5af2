// What the client asks libcurl for besides requests. Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace billcore::detail {

/// The file of certificates that libcurl was built to trust, when it says so.
[[nodiscard]] std::vector<std::string> own_trust();
/// The release of the libcurl in use: 0xXXYYZZ for XX.YY.ZZ.
[[nodiscard]] unsigned libcurl_version() noexcept;

/// Seconds since 1970 of an HTTP date; nothing when it is none.
[[nodiscard]] std::optional<std::int64_t> parse_http_date(std::string_view text);

}  // namespace billcore::detail
