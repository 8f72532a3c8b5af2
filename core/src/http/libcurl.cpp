#include "http/libcurl.hpp"

#include <curl/curl.h>

namespace billcore::detail {

unsigned libcurl_version() noexcept { return curl_version_info(CURLVERSION_NOW)->version_num; }

std::vector<std::string> own_trust() {
  std::vector<std::string> out;
  const auto* const info = curl_version_info(CURLVERSION_NOW);
  if (info->age >= CURLVERSION_SEVENTH && info->cainfo != nullptr) out.emplace_back(info->cainfo);
  return out;
}

std::optional<std::int64_t> parse_http_date(std::string_view text) {
  const auto seconds = static_cast<std::int64_t>(curl_getdate(std::string(text).c_str(), nullptr));
  if (seconds < 0) return std::nullopt;
  return seconds;
}

}  // namespace billcore::detail
