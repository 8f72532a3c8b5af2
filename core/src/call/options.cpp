#include "call/options.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/text.hpp"
#include "billcore/error.hpp"
#include "call/option_table.hpp"
#include "call/request_headers.hpp"
#include "http/libcurl.hpp"
#include "http/proxy.hpp"
#include "http/releases.hpp"
#include "http/trust.hpp"
#include "http/url.hpp"
#include "http/url_parts.hpp"

namespace billcore::detail {
namespace {

void check_file(const char* option, const std::string& file) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(file, problem) || !std::ifstream(file)) {
    throw Error(ErrorCode::config, std::string(option) + ": " + file + " cannot be read");
  }
}

void check_client_certificate(const std::string& file) {
  check_file("client_certificate", file);
  bool certificate = false;
  bool key = false;
  bool locked = false;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const bool begin = line.starts_with("-----BEGIN ");
    certificate = certificate || (begin && line.find("CERTIFICATE-----") != std::string::npos);
    key = key || (begin && line.find("PRIVATE KEY-----") != std::string::npos);
    locked = locked || line.starts_with("-----BEGIN ENCRYPTED ") || line.starts_with("Proc-Type: 4,ENCRYPTED");
  }
  const char* problem = nullptr;
  if (locked) problem = " has a key with a password";
  if (!key) problem = " has no key";
  if (!certificate) problem = " has no certificate";
  if (problem != nullptr) {
    throw Error(ErrorCode::config, "client_certificate: " + file + problem +
                                       ": the file holds PEM, the certificate, those above it, and its key without a "
                                       "password (openssl pkey takes one off)");
  }
}

// The error message does not show the URL, because the URL may contain a password.
[[noreturn]] void refuse_proxy(std::string name) { throw Error(ErrorCode::config, name.append(proxy_form)); }

// The proxy for requests to this base URL; empty for none. The environment is read here, not by libcurl for each
// request, because libcurl's error texts show parts of a URL that is not valid.
std::string proxy_for(const ClientOptions& options) {
  if (options.proxy) return *options.proxy;
  const auto parts = split_url(options.base_url);
  const auto found = is_loopback(parts->host) ? std::nullopt : environment_proxy(parts->scheme);
  if (!found || is_proxy_url(found->url)) return found ? found->url : "";
  // NO_PROXY, which libcurl reads, may exempt the service from the proxy, so only a request can fail.
  if (has_exempt_hosts()) return unusable_proxy;
  refuse_proxy(std::string("the environment variable ") + found->variable);
}

}  // namespace

ClientOptions checked_options(ClientOptions options) {
  fill_from_environment(options);
  options.base_url = checked_base_url(options.base_url, options.allow_insecure_http);
  if (options.api_key.empty()) {
    throw Error(ErrorCode::config, "api_key is missing: pass it, or set BILLCORE_API_KEY");
  }
  const auto printable = [](char c) { return c > 0x20 && c < 0x7F; };
  if (!std::all_of(options.api_key.begin(), options.api_key.end(), printable)) {
    throw Error(ErrorCode::config,
                "api_key contains a space, a line end or another character that keys do not have: copy it from the "
                "admin UI again");
  }
  check_least(options);
  check_headers(options);
  if (options.proxy && !options.proxy->empty() && !is_proxy_url(*options.proxy)) refuse_proxy("proxy");
  if (options.ca_bundle) check_file("ca_bundle", *options.ca_bundle);
  if (options.client_certificate) check_client_certificate(*options.client_certificate);
  return options;
}

ClientOptions changed_options(ClientOptions options, const ClientChanges& changes) {
  apply(options, changes);
  if (changes.hooks) options.hooks = *changes.hooks;
  check_least(options);
  check_headers(options);
  return options;
}

bool is_there(const std::string& path) {
  std::error_code problem;
  return std::filesystem::exists(path, problem);
}

TransportOptions transport_options(const ClientOptions& options,
                                   const std::function<bool(const std::string&)>& exists) {
  TransportOptions transport;
  transport.proxy = proxy_for(options);
  if (options.base_url.starts_with("https:") || lower(transport.proxy).starts_with("https:")) {
    auto trust =
        find_trust(options.ca_bundle, std::getenv("SSL_CERT_FILE"), std::getenv("SSL_CERT_DIR"), own_trust(), exists);
    transport.ca_file = std::move(trust.file);
    transport.ca_folder = std::move(trust.folder);
  }
  transport.client_certificate = options.client_certificate;
  const auto& url = options.base_url;
  // An http request to a proxy must contain the whole URL, so the origin is set only for https or without a proxy.
  if (url.starts_with("https:") || transport.proxy.empty()) {
    transport.origin = url.substr(0, url.find('/', url.find("://") + 3));
  }
  transport.http2 = options.http2.value_or(offers_http2(libcurl_version()));
  if (transport.http2) transport.http2_refused = std::make_shared<std::atomic<bool>>(false);
  transport.max_response = options.max_response;
  transport.max_connections = options.max_connections.value_or(0);
  return transport;
}

}  // namespace billcore::detail
