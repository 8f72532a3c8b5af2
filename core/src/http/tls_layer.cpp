#include "http/tls_layer.hpp"

#include <array>
#include <cstdlib>

#include "base/text.hpp"

// From the TLS library that libcurl uses; null pointers if libcurl does not load it. Declaring them weak needs no
// header of OpenSSL and links nothing more.
struct ssl_st;
extern "C" __attribute__((weak)) int SSL_has_pending(const ssl_st* ssl);
extern "C" __attribute__((weak)) void SSL_get0_alpn_selected(const ssl_st* ssl, const unsigned char** name,
                                                             unsigned int* size);

namespace billcore::detail {
namespace {

struct TlsLayer {
  bool readable = false;        // its state can be queried
  const ssl_st* ssl = nullptr;  // nullptr: no TLS
};

// Through an https proxy there are two TLS layers; libcurl shows the inner one.
TlsLayer tls_of(CURL* easy) noexcept {
  curl_tlssessioninfo* tls = nullptr;
  if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &tls) != CURLE_OK || tls == nullptr) return {};
  if (tls->internals == nullptr) return {true, nullptr};
  if (tls->backend != CURLSSLBACKEND_OPENSSL || &SSL_has_pending == nullptr || &SSL_get0_alpn_selected == nullptr)
    return {};
  return {true, static_cast<const ssl_st*>(tls->internals)};
}

// Is the TLS layer of the service inside one of a proxy?
bool is_in_tls_tunnel(const InFlight& flight) noexcept {
  long answer = 0;
  if (curl_easy_getinfo(flight.easy.get(), CURLINFO_HTTP_CONNECTCODE, &answer) != CURLE_OK) return true;
  if (flight.opened && answer == 0) return false;
  const auto is_https = [](std::string_view url) { return equal_ignoring_case(url.substr(0, 6), "https:"); };
  if (const auto& proxy = flight.engine.options.proxy) return is_https(*proxy);
  constexpr std::array names{"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
  return std::any_of(names.begin(), names.end(), [&](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && is_https(value);
  });
}

}  // namespace

void learn(const InFlight& flight, Connection& connection) noexcept {
  const auto tls = tls_of(flight.easy.get());
  connection.opaque = !tls.readable || (tls.ssl != nullptr && is_in_tls_tunnel(flight));
  if (!tls.readable) return;
  connection.known = true;
  if (tls.ssl == nullptr) return;
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(tls.ssl, &name, &size);
  connection.http2 = std::string_view(reinterpret_cast<const char*>(name), size) == "h2";
}

bool holds_bytes(CURL* easy) noexcept {
  const auto tls = tls_of(easy);
  return !tls.readable || (tls.ssl != nullptr && SSL_has_pending(tls.ssl) != 0);
}

}  // namespace billcore::detail
