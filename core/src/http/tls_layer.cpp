#include "http/tls_layer.hpp"

#include <memory>
#include <string_view>

#include "base/text.hpp"

// Functions of the TLS library that libcurl uses; null if libcurl does not load OpenSSL. Because the declarations are
// weak, this file needs neither OpenSSL's headers nor a link to OpenSSL.
struct ssl_st;
struct x509_st;
struct GENERAL_NAME_st;
struct stack_st;
extern "C" __attribute__((weak)) int SSL_has_pending(const ssl_st* ssl);
extern "C" __attribute__((weak)) void SSL_get0_alpn_selected(const ssl_st* ssl, const unsigned char** name,
                                                             unsigned int* size);
extern "C" __attribute__((weak)) x509_st* SSL_get0_peer_certificate(const ssl_st* ssl);
extern "C" __attribute__((weak)) void* X509_get_ext_d2i(const x509_st* certificate, int kind, int* critical,
                                                        int* place);
extern "C" __attribute__((weak)) int OPENSSL_sk_num(const stack_st* list);
extern "C" __attribute__((weak)) void* OPENSSL_sk_value(const stack_st* list, int place);
extern "C" __attribute__((weak)) void* GENERAL_NAME_get0_value(const GENERAL_NAME_st* name, int* kind);
extern "C" __attribute__((weak)) void GENERAL_NAMES_free(stack_st* names);

namespace billcore::detail {
namespace {

struct TlsLayer {
  bool readable = false;        // the state of the layer can be queried
  const ssl_st* ssl = nullptr;  // nullptr: no TLS
};

// The TLS layer of a connection. A connection through an https proxy has two TLS layers; libcurl returns the inner
// layer.
TlsLayer tls_of(CURL* easy) noexcept {
  curl_tlssessioninfo* tls = nullptr;
  if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &tls) != CURLE_OK || tls == nullptr) return {};
  if (tls->internals == nullptr) return {true, nullptr};
  if (tls->backend != CURLSSLBACKEND_OPENSSL || &SSL_has_pending == nullptr || &SSL_get0_alpn_selected == nullptr)
    return {};
  return {true, static_cast<const ssl_st*>(tls->internals)};
}

bool speaks_http2(const TlsLayer& tls) noexcept {
  if (tls.ssl == nullptr) return false;
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(tls.ssl, &name, &size);
  return std::string_view(reinterpret_cast<const char*>(name), size) == "h2";
}

constexpr int subject_alt_name = 85;  // NID_subject_alt_name
constexpr int dns_name = 2;           // GEN_DNS
constexpr int ip_address = 7;         // GEN_IPADD

bool can_read_names() noexcept {
  return &SSL_get0_peer_certificate != nullptr && &X509_get_ext_d2i != nullptr && &OPENSSL_sk_num != nullptr &&
         &OPENSSL_sk_value != nullptr && &GENERAL_NAME_get0_value != nullptr && &GENERAL_NAMES_free != nullptr;
}

struct FreeNames {
  void operator()(stack_st* names) const noexcept { GENERAL_NAMES_free(names); }
};

// Whether the connection's TLS layer is inside the TLS layer of a proxy.
bool is_in_tls_tunnel(const InFlight& flight) noexcept {
  long answer = 0;
  if (curl_easy_getinfo(flight.easy.get(), CURLINFO_HTTP_CONNECTCODE, &answer) != CURLE_OK) return true;
  if (flight.opened && answer == 0) return false;
  return equal_ignoring_case(std::string_view(flight.engine.options.proxy).substr(0, 6), "https:");
}

}  // namespace

void learn(const InFlight& flight, Connection& connection) noexcept {
  const auto tls = tls_of(flight.easy.get());
  connection.opaque = !tls.readable || (tls.ssl != nullptr && is_in_tls_tunnel(flight));
  if (!tls.readable) return;
  connection.known = true;
  connection.http2 = speaks_http2(tls);
}

bool has_negotiated_http2(CURL* easy) noexcept { return speaks_http2(tls_of(easy)); }

Naming naming_of_peer(CURL* easy) noexcept {
  const auto tls = tls_of(easy);
  if (tls.ssl == nullptr || !can_read_names()) return Naming::good;
  const auto* const certificate = SSL_get0_peer_certificate(tls.ssl);
  if (certificate == nullptr) return Naming::missing;
  int critical = -1;
  const std::unique_ptr<stack_st, FreeNames> names(
      static_cast<stack_st*>(X509_get_ext_d2i(certificate, subject_alt_name, &critical, nullptr)));
  // If the certificate has the extension (critical >= 0), OpenSSL has already read it once, to verify the certificate.
  // The names in a verified certificate can therefore be unreadable only because memory ran out.
  if (names == nullptr) return critical >= 0 ? Naming::out_of_memory : Naming::missing;
  for (int i = 0; i < OPENSSL_sk_num(names.get()); ++i) {
    int kind = -1;
    GENERAL_NAME_get0_value(static_cast<const GENERAL_NAME_st*>(OPENSSL_sk_value(names.get(), i)), &kind);
    if (kind == dns_name || kind == ip_address) return Naming::good;
  }
  return Naming::missing;
}

bool holds_bytes(CURL* easy) noexcept {
  const auto tls = tls_of(easy);
  return !tls.readable || (tls.ssl != nullptr && SSL_has_pending(tls.ssl) != 0);
}

}  // namespace billcore::detail
