// TLS for an HTTP/2 peer on loopback. The peer's certificate is self-signed; the client trusts it through a CA file
// in memory.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace billcore::fuzz {

/// Returns the path of a file for ClientOptions::ca_bundle. The CA file exists until the process ends.
[[nodiscard]] const std::string& trusted_bundle();

/// The server's side of one TLS connection. Non-blocking.
class Tls {
 public:
  explicit Tls(int descriptor);
  /// Continues the handshake; returns false until HTTP/2 has been negotiated.
  [[nodiscard]] bool shake_hands();
  /// Appends the received bytes to `into`.
  void read(std::string& into);
  /// Sends as many bytes as the kernel takes; returns their number.
  [[nodiscard]] std::size_t write(std::string_view bytes);
  /// Tells the client that no more bytes follow.
  void say_end();
  /// The number of bytes sent, including TLS overhead.
  [[nodiscard]] std::uint64_t sent() const { return BIO_number_written(SSL_get_wbio(ssl_.get())); }

 private:
  struct Free {
    void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
  };
  std::unique_ptr<SSL, Free> ssl_;
};

}  // namespace billcore::fuzz
