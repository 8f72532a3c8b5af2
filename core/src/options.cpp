#include "options.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "billcore/error.hpp"
#include "text.hpp"
#include "url.hpp"

namespace billcore::detail {
namespace {

constexpr std::string_view user_agent = "billcore/" BILLCORE_VERSION " (libbillcore)";

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool has_control(std::string_view text) noexcept {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F; });
}

bool is_blank(std::string_view text) noexcept { return text.find_first_not_of(" \t") == std::string_view::npos; }

bool is_token(std::string_view name) noexcept {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           others.find(c) != std::string_view::npos;
  });
}

void check_header(const std::string& name, const std::string& value) {
  static constexpr std::array<std::string_view, 9> ours{"accept",         "accept-encoding",   "connection",
                                                        "content-length", "content-type",      "expect",
                                                        "host",           "transfer-encoding", "x-api-key"};
  if (!is_token(name))
    throw Error(ErrorCode::config, "headers: a header's name is empty or has characters no name may have");
  if (has_control(value)) {
    throw Error(ErrorCode::config,
                "headers: the value of " + name + " has a line end or another control character in it");
  }
  if (std::find(ours.begin(), ours.end(), lower(name)) != ours.end()) {
    throw Error(ErrorCode::config, "headers: " + name + " is set by the client itself and cannot be given");
  }
}

void check_ca_bundle(const std::string& file) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(file, problem) || !std::ifstream(file)) {
    throw Error(ErrorCode::config, "ca_bundle: " + file + " is no file that can be read");
  }
}

// Its text is not shown: there may be a password in it.
void check_proxy(const std::string& proxy) {
  static constexpr std::array<std::string_view, 6> schemes{"http", "https", "socks4", "socks4a", "socks5", "socks5h"};
  const auto parts = has_control(proxy) ? std::nullopt : split_url(proxy);
  if (!parts || parts->host.empty() || std::find(schemes.begin(), schemes.end(), parts->scheme) == schemes.end()) {
    throw Error(
        ErrorCode::config,
        "proxy is not the URL of a proxy, such as http://user:password@proxy.example:3128 (http, https, socks4, "
        "socks4a, socks5 or socks5h)");
  }
}

// What with_options() may change.
void check_changeable(const ClientOptions& options) {
  if (options.timeout && options.timeout->count() <= 0) {
    throw Error(ErrorCode::config, "timeout must be more than 0 (or none, for no deadline)");
  }
  if (options.max_retries < 0) {
    throw Error(ErrorCode::config, "max_retries must not be negative; 0 sends every request exactly once");
  }
  for (const auto& [name, value] : options.headers) check_header(name, value);
}

}  // namespace

ClientOptions checked_options(ClientOptions options) {
  if (options.base_url.empty()) options.base_url = from_environment("BILLCORE_BASE_URL");
  if (options.api_key.empty()) options.api_key = from_environment("BILLCORE_API_KEY");
  options.base_url = checked_base_url(options.base_url, options.allow_insecure_http);
  if (options.api_key.empty()) {
    throw Error(ErrorCode::config, "api_key is missing: pass it, or set BILLCORE_API_KEY");
  }
  const auto printable = [](char c) { return c > 0x20 && c < 0x7F; };
  if (!std::all_of(options.api_key.begin(), options.api_key.end(), printable)) {
    throw Error(ErrorCode::config,
                "api_key has a space, a line end or another character no key has: copy it from the admin UI once more");
  }
  check_changeable(options);
  if (options.max_response == 0) throw Error(ErrorCode::config, "max_response must be more than 0 bytes");
  if (!is_token(options.request_id_header)) throw Error(ErrorCode::config, "request_id_header is not a header's name");
  if (options.proxy && !options.proxy->empty()) check_proxy(*options.proxy);
  if (options.ca_bundle) check_ca_bundle(*options.ca_bundle);
  return options;
}

ClientOptions changed_options(ClientOptions options, const ClientChanges& changes) {
  if (changes.timeout) options.timeout = changes.timeout;
  if (changes.no_timeout) options.timeout.reset();
  if (changes.max_retries) options.max_retries = *changes.max_retries;
  if (changes.headers) options.headers = *changes.headers;
  check_changeable(options);
  return options;
}

Trust find_trust(const std::optional<std::string>& given, const char* cert_file, const char* cert_dir,
                 const std::vector<std::string>& own, const std::function<bool(const std::string&)>& exists) {
  static constexpr std::array<const char*, 6> places{
      "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Alpine, Arch
      "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, Amazon Linux
      "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // RHEL
      "/etc/ssl/ca-bundle.pem",                             // SUSE
      "/etc/ssl/cert.pem",                                  // BSD, macOS, Alpine
      "/usr/local/share/certs/ca-root-nss.crt"};            // FreeBSD
  if (given) return {given, std::nullopt};
  const auto named = [&exists](const char* variable, const char* value) {
    if (exists(value)) return;
    throw Error(ErrorCode::config,
                std::string(variable) + " names " + value + ", which is not there: correct or unset it");
  };
  Trust trust;
  if (cert_file != nullptr && *cert_file != '\0') {
    named("SSL_CERT_FILE", cert_file);
    trust.file = cert_file;
  }
  if (cert_dir != nullptr && *cert_dir != '\0') {
    // Several folders, as OpenSSL reads it; one that is not there does not matter, unless it is the only one.
    if (!trust.file && std::string_view(cert_dir).find(':') == std::string_view::npos) named("SSL_CERT_DIR", cert_dir);
    trust.folder = cert_dir;
  }
  if (trust.file || trust.folder) return trust;

  std::vector<std::string> tried = own;
  tried.insert(tried.end(), places.begin(), places.end());
  std::string list;
  for (const auto& place : tried) {
    if (place.empty()) continue;
    if (exists(place)) return {place, std::nullopt};
    list += (list.empty() ? "" : ", ") + place;
  }
  throw Error(ErrorCode::config,
              "no certificates to trust were found: install ca-certificates, or pass ca_bundle or set "
              "SSL_CERT_FILE (tried " +
                  list + ")");
}

TransportOptions transport_options(const ClientOptions& options) {
  TransportOptions transport;
  if (options.base_url.starts_with("https:") || options.proxy) {
    const auto trust = find_trust(options.ca_bundle, std::getenv("SSL_CERT_FILE"), std::getenv("SSL_CERT_DIR"),
                                  own_trust(), [](const std::string& path) {
                                    std::error_code problem;
                                    return std::filesystem::exists(path, problem);
                                  });
    transport.ca_file = trust.file;
    transport.ca_folder = trust.folder;
  }
  transport.proxy = options.proxy;
  if (!transport.proxy && is_loopback(split_url(options.base_url)->host)) transport.proxy = "";
  transport.http2 = options.http2;
  transport.max_response = options.max_response;
  return transport;
}

std::shared_ptr<const RequestHeaders> request_headers(const ClientOptions& options) {
  std::vector<std::string> lines{"X-API-KEY: " + options.api_key, "Accept: application/json"};
  std::string agent = "User-Agent: " + std::string(user_agent);
  for (const auto& [name, value] : options.headers) {
    if (lower(name) == "user-agent") {
      agent.append(" ").append(value);
    } else {
      // libcurl reads "Name:" as "leave this header out" and "Name;" as "send it empty".
      lines.push_back(std::string(name).append(is_blank(value) ? ";" : ": " + value));
    }
  }
  lines.push_back(std::move(agent));
  return std::make_shared<RequestHeaders>(lines);
}

}  // namespace billcore::detail
