// TLS of a peer on loopback that speaks HTTP/2: a certificate of its own, which the client trusts through a file in memory.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace billcore::fuzz {

/// For ClientOptions::ca_bundle. Valid for the life of the process.
[[nodiscard]] const std::string& trusted_bundle();

/// The server's side of one connection. Nothing blocks.
class Tls {
 public:
  explicit Tls(int descriptor);
  /// Goes on with the handshake; false until HTTP/2 has been agreed upon.
  [[nodiscard]] bool shake_hands();
  /// Takes what has arrived.
  void read(std::string& into);
  /// Sends what the kernel takes; how much that was.
  [[nodiscard]] std::size_t write(std::string_view bytes);
  /// Says that nothing follows.
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
