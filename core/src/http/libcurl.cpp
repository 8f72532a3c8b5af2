#include "http/libcurl.hpp"

#include <curl/curl.h>

#include "base/text.hpp"
#include "billcore/detail/libraries.hpp"

namespace billcore::detail {

unsigned libcurl_version() noexcept { return curl_version_info(CURLVERSION_NOW)->version_num; }

std::vector<LinkedLibrary> linked_http() {
  const auto* const info = curl_version_info(CURLVERSION_NOW);
  const auto number = [&](unsigned shift) { return std::to_string(info->version_num >> shift & 0xFFU); };
  std::vector<LinkedLibrary> out{{"libcurl", number(16) + "." + number(8) + "." + number(0)}};
  if (info->ssl_version != nullptr) {  // such as OpenSSL/3.0.17
    const std::string tls = info->ssl_version;
    const auto slash = tls.find('/');
    out.push_back(
        {lower(std::string_view(tls).substr(0, slash)), slash == std::string::npos ? "" : tls.substr(slash + 1)});
  }
  if (info->age >= CURLVERSION_SIXTH && info->nghttp2_version != nullptr) {
    out.push_back({"nghttp2", info->nghttp2_version});
  }
  return out;
}

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
