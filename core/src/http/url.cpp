#include "http/url.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "base/encoding.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "billcore/error.hpp"
#include "http/url_parts.hpp"

namespace billcore::detail {
namespace {

// The characters that a URL contains as they are (RFC 3986, 2.3).
constexpr auto unreserved = [] {
  std::array<bool, 256> out{};
  for (const char c : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")) {
    out.at(static_cast<unsigned char>(c)) = true;
  }
  return out;
}();
constexpr bool is_unreserved(char c) noexcept { return unreserved[static_cast<unsigned char>(c)]; }

[[noreturn]] void bad_base_url(const std::string& problem) { throw Error(ErrorCode::config, "base_url " + problem); }

}  // namespace

bool is_loopback(std::string_view name) {
  const auto host = lower(name);
  if (host == "localhost" || host == "::1") return true;
  // Names such as `127.` or `127.0.0.256` are not IP addresses, so libcurl would look them up in DNS.
  in_addr address{};
  return host.starts_with("127.") && inet_pton(AF_INET, host.c_str(), &address) == 1;
}

std::string checked_base_url(std::string_view url, bool allow_insecure_http) {
  if (url.empty()) bad_base_url("is missing: pass it, or set BILLCORE_BASE_URL");
  if (std::any_of(url.begin(), url.end(), [](char c) { return is_control(c) || c == ' '; })) {
    bad_base_url("has a space or a control character in it");
  }
  const auto scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) bad_base_url("has no scheme: it must begin with https://");
  // If the URL has no host, libcurl uses the first path segment as the host.
  if (url.substr(scheme_end + 3).starts_with('/')) bad_base_url("has no host: it must begin with https://host");
  const std::string text(url);
  const auto parts = split_url(text);
  // libcurl's URL parser reads `http:/a://b` as host `a`, but a request would be sent to `b`.
  if (!parts || parts->host.empty() || lower(url.substr(0, scheme_end)) != parts->scheme) {
    bad_base_url("is not a valid URL");
  }
  if (parts->has_credentials) bad_base_url("must not contain a user name or password: pass the API key as api_key");
  if (parts->has_query || text.find('?') != std::string::npos) {
    bad_base_url("must not have a query: it ends in the account segment");
  }
  if (parts->has_fragment || text.find('#') != std::string::npos) {
    bad_base_url("must not have a fragment: it ends in the account segment");
  }
  if (parts->scheme != "https" && parts->scheme != "http") {
    bad_base_url("has the scheme " + parts->scheme + ": only https is supported (http on loopback)");
  }
  if (parts->scheme == "http" && !allow_insecure_http && !is_loopback(parts->host)) {
    bad_base_url(
        "is http to a host that is not loopback, which would send the API key in the clear: use https, or "
        "allow_insecure_http");
  }
  // Refuse `.` and `..`, because libcurl would remove these segments and so send requests to another path.
  if (has_dot_segment(url.substr(scheme_end + 3))) bad_base_url("must not contain the segments `.` or `..`");
  // Refuse a non-ASCII host name, because its resolution depends on libcurl's build and on the locale. parts->host is
  // already percent-decoded.
  if (std::any_of(parts->host.begin(), parts->host.end(),
                  [](char c) { return static_cast<unsigned char>(c) > 0x7E; })) {
    bad_base_url("has a host name with non-ASCII characters: write it in its DNS form (xn--...)");
  }
  const auto end = text.find_last_not_of('/') + 1;
  if (text.find('/', scheme_end + 3) >= end) {
    bad_base_url("has no account segment: it must end in the account's id, as in https://HOST/ACCOUNT_ID");
  }
  return parts->scheme + text.substr(scheme_end, end - scheme_end);
}

bool has_dot_segment(std::string_view path) noexcept {
  while (!path.empty()) {
    auto segment = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(segment.size() + 1, path.size()));
    int dots = 0;
    for (; !segment.empty(); ++dots) {
      const bool encoded = segment.starts_with("%2e") || segment.starts_with("%2E");
      if (!encoded && segment.front() != '.') break;
      segment.remove_prefix(encoded ? 3 : 1);
    }
    if (segment.empty() && (dots == 1 || dots == 2)) return true;
  }
  return false;
}

std::string percent_encode(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), is_unreserved)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (is_unreserved(c)) {
      out += c;
    } else {
      out += '%';
      encode_hex_text({&c, 1}, upper_hex_digits, out);
    }
  }
  return out;
}

std::string path_segment(const Id& id) {
  const std::string& text = id.text();
  const auto refuse = [](const char* problem) {
    throw Error(ErrorCode::invalid_argument, std::string("the id ") + problem + ": pass the id as it was received");
  };
  if (text.empty()) refuse("is empty");
  if (text == "." || text == "..") refuse("is a relative path segment, not an id");
  const auto ends_lines = [](char c) { return c == '\r' || c == '\n' || c == '\0'; };
  if (std::any_of(text.begin(), text.end(), ends_lines)) refuse("has a line end or NUL in it");
  if (!valid_utf8(text)) refuse("is not valid UTF-8");
  return percent_encode(text);
}

std::string query_string(const std::vector<std::pair<std::string, std::string>>& query) {
  std::string out;
  for (const auto& [name, value] : query) {
    if (!out.empty()) out += '&';
    out.append(percent_encode(name)).append("=").append(percent_encode(value));
  }
  return out;
}

}  // namespace billcore::detail
