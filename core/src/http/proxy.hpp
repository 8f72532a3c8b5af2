// The URL of a proxy: whether libcurl reads it as it is meant, and the environment's proxy. Internal.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace billcore::detail {

/// What the URL of a proxy looks like, for error messages, which show nothing of a bad URL.
inline constexpr std::string_view proxy_form =
    " is not the URL of a proxy, such as http://user:password@proxy.example:3128 (http, https, socks4, socks4a, socks5 "
    "or socks5h): percent-encode the user name and the password (/ as %2F, ? as %3F, # as %23, @ as %40)";

/// Whether a text is the URL of a proxy. Refuses a URL whose user name or password has characters that must be
/// percent-encoded: libcurl would take a part of the password for the host, whose name libcurl shows in its error texts.
[[nodiscard]] bool is_proxy_url(const std::string& url);

/// A URL of a proxy that is not valid: a request through this proxy fails, and nothing is sent.
inline constexpr const char* unusable_proxy = "http://[";

struct EnvironmentProxy {
  const char* variable;
  std::string url;
};
/// The proxy that the environment names for requests with this scheme (http or https), by the rules of libcurl.
[[nodiscard]] std::optional<EnvironmentProxy> environment_proxy(std::string_view scheme);
/// Whether the environment exempts some hosts from the proxy.
[[nodiscard]] bool has_exempt_hosts() noexcept;

}  // namespace billcore::detail
