#include "call/request_headers.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "billcore/error.hpp"
#include "http/url_parts.hpp"

namespace billcore::detail {
namespace {

constexpr std::string_view user_agent = "billcore/" BILLCORE_VERSION " (libbillcore)";

bool has_control(std::string_view text) noexcept {
  return std::any_of(text.begin(), text.end(), [](char c) { return is_control(c) && c != '\t'; });
}

bool is_blank(std::string_view text) noexcept { return text.find_first_not_of(" \t") == std::string_view::npos; }

void check_header(const std::string& name, const std::string& value) {
  static constexpr std::array<std::string_view, 9> ours{"accept",         "accept-encoding",   "connection",
                                                        "content-length", "content-type",      "expect",
                                                        "host",           "transfer-encoding", "x-api-key"};
  if (!is_token(name))
    throw Error(ErrorCode::config, "headers: a header's name is empty or has characters that are not allowed in names");
  if (has_control(value)) {
    throw Error(ErrorCode::config,
                "headers: the value of " + name + " contains a line end or another control character");
  }
  if (std::find(ours.begin(), ours.end(), lower(name)) != ours.end()) {
    throw Error(ErrorCode::config, "headers: " + name + " is set by the client itself and cannot be given");
  }
}

}  // namespace

void check_headers(const ClientOptions& options) {
  for (const auto& [name, value] : options.headers) check_header(name, value);
  if (!is_token(options.request_id_header))
    throw Error(ErrorCode::config, "request_id_header is not a valid header name");
}

std::shared_ptr<const RequestHeaders> request_headers(const ClientOptions& options) {
  std::vector<std::string> lines{"X-API-KEY: " + options.api_key, "Accept: application/json"};
  std::string agent = "User-Agent: " + std::string(user_agent);
  for (const auto& [name, value] : options.headers) {
    if (lower(name) == "user-agent") {
      agent.append(" ").append(value);
    } else {
      // To libcurl, "Name:" means that the header is left out, and "Name;" that it is sent without a value.
      lines.push_back(std::string(name).append(is_blank(value) ? ";" : ": " + value));
    }
  }
  lines.push_back(std::move(agent));
  return std::make_shared<RequestHeaders>(lines);
}

}  // namespace billcore::detail
