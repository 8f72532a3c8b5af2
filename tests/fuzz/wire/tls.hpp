// TLS of an HTTP/2 peer on loopback: a self-signed certificate, which the client trusts through a file in memory.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace billcore::fuzz {

/// For ClientOptions::ca_bundle. Valid until the process ends.
[[nodiscard]] const std::string& trusted_bundle();

/// The server's side of one connection. Non-blocking.
class Tls {
 public:
  explicit Tls(int descriptor);
  /// Continues the handshake; false until HTTP/2 has been negotiated.
  [[nodiscard]] bool shake_hands();
  /// Reads what has arrived.
  void read(std::string& into);
  /// Sends what the kernel takes; returns how much.
  [[nodiscard]] std::size_t write(std::string_view bytes);
  /// Tells the client that nothing follows.
  void say_end();
  /// Bytes of TLS that have been sent.
  [[nodiscard]] std::uint64_t sent() const { return BIO_number_written(SSL_get_wbio(ssl_.get())); }

 private:
  struct Free {
    void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
  };
  std::unique_ptr<SSL, Free> ssl_;
};

}  // namespace billcore::fuzz
