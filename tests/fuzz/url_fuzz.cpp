// Checks that the API key can safely be sent to each accepted base URL, and that ids and paths keep their meaning in
// URLs.
//
// An input is a base URL, an id and a path, separated by NUL.
#include <arpa/inet.h>

#include "bytes.hpp"
#include "http/url.hpp"

namespace {

using namespace billcore;
using namespace billcore::fuzz;

int digit_of(char c) {
  const auto at = std::string_view("0123456789abcdefABCDEF").find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at < 16 ? at : at - 6);
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit_of(text[i + 1]) >= 0 && digit_of(text[i + 2]) >= 0) {
      out += static_cast<char>(digit_of(text[i + 1]) * 16 + digit_of(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string lowered(std::string text) {
  for (auto& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return text;
}

/// Returns the host of a URL as in RFC 3986: the part between the scheme and the first slash, without the port.
std::string host_of(std::string_view url) {
  auto authority = url.substr(url.find("://") + 3);
  authority = authority.substr(0, authority.find('/'));
  if (authority.starts_with('[')) return std::string(authority.substr(1, authority.find(']') - 1));
  return lowered(decoded(authority.substr(0, authority.find(':'))));
}

bool is_this_machine(const std::string& host) {
  if (host == "localhost") return true;
  // In an IPv6 address, % begins the zone (RFC 6874), which names the local interface that reaches the address.
  in6_addr wide{};
  if (inet_pton(AF_INET6, host.substr(0, host.find('%')).c_str(), &wide) == 1) return IN6_IS_ADDR_LOOPBACK(&wide) != 0;
  in_addr address{};
  return inet_aton(host.c_str(), &address) != 0 && ntohl(address.s_addr) >> 24U == 127;
}

bool steps_out(std::string_view path) {
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    const auto segment = decoded(path.substr(begin, end - begin));
    if (segment == "." || segment == "..") return true;
    begin = end + 1;
  }
  return false;
}

void judge_base(std::string_view url, bool insecure) {
  std::string base;
  try {
    base = detail::checked_base_url(url, insecure);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::config, "a bad base URL is a config error");
    require_readable(error);
    return;
  }
  require(base.starts_with("https://") || base.starts_with("http://"), "a base URL is http or https");
  require(!base.ends_with('/'), "a base URL has no slash at its end");
  for (const char c : base) require(static_cast<unsigned char>(c) > 0x20 && c != 0x7F, "a base URL has no blanks");
  require(base.find_first_of("?#") == std::string::npos, "a base URL has no query and no fragment");
  const auto host = host_of(base);
  require(!host.empty() && host.find('@') == std::string::npos, "a base URL has a host, and no user name");
  const auto path = base.find('/', base.find("://") + 3);
  require(path != std::string::npos && path + 1 < base.size(), "a base URL has an account");
  require(!steps_out(std::string_view(base).substr(path)), "a base URL has no dot segments");
  if (base.starts_with("http://") && !insecure) {
    require(is_this_machine(host), "the key is sent unencrypted to this machine only");
  }
  require(detail::checked_base_url(base, insecure) == base, "a checked base URL passes again unchanged");
  require(detail::checked_base_url(base + "/", insecure) == base, "a slash at the end is ignored");
  require(lowered(base.substr(0, base.find("://"))) + base.substr(base.find("://")) == base,
          "a scheme is in lower case");
}

void judge_id(std::string_view id) {
  const bool possible = !id.empty() && id != "." && id != ".." &&
                        id.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos && is_utf8(id);
  try {
    const auto segment = detail::path_segment(Id(id));
    require(possible, "an impossible id is refused");
    require(decoded(segment) == id, "an id is sent as it was received");
    require(segment.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~%") ==
                std::string::npos,
            "an id is one segment");
    require(!steps_out(segment), "an id is not a dot segment");
    const auto query = detail::query_string({{std::string(id), "a"}, {"b", std::string(id)}});
    require(query == segment + "=a&b=" + segment, "a query names its values");
  } catch (const Error& error) {
    require(!possible && error.code() == ErrorCode::invalid_argument, "every id is accepted");
    require_readable(error);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const auto url = bytes.text();
  const auto id = bytes.text();
  const auto path = bytes.rest();
  judge_base(url, false);
  judge_base(url, true);
  judge_base("http://" + std::string(id) + "/account", false);
  judge_id(id);
  judge_id(path);
  require(detail::has_dot_segment(path) == steps_out(path), "a dot segment is detected, encoded or not");
  return 0;
}
