// Splits a URL with libcurl's parser. Internal.
#pragma once

#include <optional>
#include <string>

namespace billcore::detail {

/// The parts of an absolute URL that the client checks. split_url() returns nullopt for an invalid URL.
struct UrlParts {
  std::string scheme;
  std::string host;  // IPv6 without brackets
  bool has_query = false;
  bool has_fragment = false;
  bool has_credentials = false;
  bool credentials_decode = true;  // false: the user name or password contains an encoded control character
};
[[nodiscard]] std::optional<UrlParts> split_url(const std::string& url);

}  // namespace billcore::detail
