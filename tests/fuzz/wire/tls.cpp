#include "tls.hpp"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "support.hpp"

namespace billcore::fuzz {
namespace {

constexpr long two_days = 2L * 24 * 60 * 60;
constexpr std::string_view alpn_h2("\x02h2", 3);

// Ignores SIGPIPE during a call of the peer, because OpenSSL writes to sockets without MSG_NOSIGNAL. Afterwards
// restores SIGPIPE and clears OpenSSL's error queue, so that the peer does not affect the client's TLS on the same
// thread.
class Tidy {
 public:
  Tidy() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~Tidy() {
    ERR_clear_error();
    std::signal(SIGPIPE, before_);
  }
  Tidy(const Tidy&) = delete;
  Tidy& operator=(const Tidy&) = delete;

 private:
  void (*before_)(int);
};

int choose(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* offered, unsigned int length,
           void*) {
  const std::string_view names(reinterpret_cast<const char*>(offered), length);
  if (names.find(alpn_h2) == std::string_view::npos) return SSL_TLSEXT_ERR_ALERT_FATAL;
  *out = reinterpret_cast<const unsigned char*>(alpn_h2.data()) + 1;
  *size = 2;
  return SSL_TLSEXT_ERR_OK;
}

void extend(X509* certificate, int kind, const char* value) {
  X509_EXTENSION* made = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
  require(made != nullptr && X509_add_ext(certificate, made, -1) == 1, "a certificate is made");
  X509_EXTENSION_free(made);
}

struct Authority {
  Authority() : context(SSL_CTX_new(TLS_server_method())) {
    EVP_PKEY* const key_pair = EVP_EC_gen("P-256");
    X509* const certificate = X509_new();
    require(context != nullptr && key_pair != nullptr && certificate != nullptr, "a certificate is made");
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -two_days);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 365 * two_days);
    X509_set_pubkey(certificate, key_pair);
    auto* const name = X509_get_subject_name(certificate);
    const auto* const text = reinterpret_cast<const unsigned char*>("peer");
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    extend(certificate, NID_basic_constraints, "critical,CA:TRUE");
    extend(certificate, NID_subject_alt_name, "IP:127.0.0.1");
    require(X509_sign(certificate, key_pair, EVP_sha256()) > 0, "a certificate is made");
    require(SSL_CTX_use_certificate(context, certificate) == 1 && SSL_CTX_use_PrivateKey(context, key_pair) == 1,
            "a certificate is used");
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_alpn_select_cb(context, &choose, nullptr);
    publish(certificate);
    X509_free(certificate);
    EVP_PKEY_free(key_pair);
  }
  ~Authority() { SSL_CTX_free(context); }
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  void publish(X509* certificate) {
    const int file = memfd_create("bundle", MFD_CLOEXEC);
    BIO* const memory = BIO_new(BIO_s_mem());
    require(memory != nullptr && PEM_write_bio_X509(memory, certificate) == 1, "a certificate is written");
    char* text = nullptr;
    const auto size = BIO_get_mem_data(memory, &text);
    require(file >= 0 && ::write(file, text, static_cast<std::size_t>(size)) == size, "a certificate is written");
    BIO_free(memory);
    bundle = "/proc/self/fd/" + std::to_string(file);
  }

  SSL_CTX* context;
  std::string bundle;
};

const Authority& authority() {
  static const Authority made;
  return made;
}

}  // namespace

const std::string& trusted_bundle() { return authority().bundle; }

Tls::Tls(int descriptor) : ssl_(SSL_new(authority().context)) {
  require(ssl_ != nullptr && SSL_set_fd(ssl_.get(), descriptor) == 1, "memory does not run out");
  SSL_set_accept_state(ssl_.get());
}

bool Tls::shake_hands() {
  const Tidy tidy;
  return SSL_do_handshake(ssl_.get()) == 1;
}

void Tls::read(std::string& into) {
  const Tidy tidy;
  std::array<char, 16384> room;
  int got = 0;
  while ((got = SSL_read(ssl_.get(), room.data(), static_cast<int>(room.size()))) > 0) {
    into.append(room.data(), static_cast<std::size_t>(got));
  }
}

void Tls::say_end() {
  const Tidy tidy;
  SSL_shutdown(ssl_.get());
}

std::size_t Tls::write(std::string_view bytes) {
  const Tidy tidy;
  std::size_t all = 0;
  while (!bytes.empty()) {
    std::size_t went = 0;
    if (SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &went) != 1) break;
    bytes.remove_prefix(went);
    all += went;
  }
  return all;
}

}  // namespace billcore::fuzz
