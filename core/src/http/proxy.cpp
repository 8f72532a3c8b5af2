#include "http/proxy.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "http/url_parts.hpp"

namespace billcore::detail {
namespace {

constexpr std::string_view before_host = "://";

// Value of a variable of the environment; nullptr if it is not set, or empty.
const char* variable(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

}  // namespace

bool is_proxy_url(const std::string& url) {
  // libcurl reads `socks` as `socks4`; some desktops set the scheme `socks` in the environment.
  static constexpr std::array<std::string_view, 7> schemes{"http",    "https",  "socks",  "socks4",
                                                           "socks4a", "socks5", "socks5h"};
  const auto scheme_end = url.find(before_host);
  if (scheme_end == std::string::npos) return false;
  const auto rest = std::string_view(url).substr(scheme_end + before_host.size());
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
    auto host = rest.substr(at + 1);
    if (host.ends_with('/')) host.remove_suffix(1);
    if (rest.substr(0, at).find_first_of("/?#@") != std::string_view::npos ||
        host.find_first_of("/?#") != std::string_view::npos) {
      return false;
    }
  }
  const auto parts = split_url(url);
  return parts && !parts->host.empty() && parts->credentials_decode &&
         std::find(schemes.begin(), schemes.end(), parts->scheme) != schemes.end();
}

std::optional<EnvironmentProxy> environment_proxy(std::string_view scheme) {
  // HTTP_PROXY does not count: in a CGI program a remote client sets it with the header Proxy.
  static constexpr std::array https{"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
  static constexpr std::array http{"http_proxy", "all_proxy", "ALL_PROXY"};
  const auto first = [](const auto& names) -> std::optional<EnvironmentProxy> {
    const auto* const found =
        std::find_if(names.begin(), names.end(), [](const char* name) { return variable(name) != nullptr; });
    if (found == names.end()) return std::nullopt;
    std::string url = variable(*found);
    if (url.find(before_host) == std::string::npos) url.insert(0, "http://");
    return EnvironmentProxy{*found, std::move(url)};
  };
  return scheme == "https" ? first(https) : first(http);
}

bool has_exempt_hosts() noexcept { return variable("no_proxy") != nullptr || variable("NO_PROXY") != nullptr; }

}  // namespace billcore::detail
