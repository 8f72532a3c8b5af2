// Queries the TLS layer of a connection. Only for files in http/ that use libcurl.
#pragma once

#include "http/in_flight.hpp"

namespace billcore::detail {

/// How the certificate of the service names the host.
enum class Naming : std::uint8_t {
  good,     // the certificate has subject alternative names, or there is no TLS, or TLS cannot be inspected
  missing,  // the certificate has only a common name, which libcurl accepts and RFC 9525 forbids
  out_of_memory
};
/// Looks at the service's own certificate, not that of an https proxy. libcurl has already compared the names with the
/// host.
[[nodiscard]] Naming naming_of_peer(CURL* easy) noexcept;
/// Records properties of a connection after its TLS handshake: its protocol, and whether its TLS layer can be
/// inspected. Called for the first request on the connection.
void learn(const InFlight& flight, Connection& connection) noexcept;
[[nodiscard]] bool has_negotiated_http2(CURL* easy) noexcept;
/// Whether the TLS library has buffered bytes of the connection that libcurl has not read yet, or cannot be asked. poll()
/// does not report such bytes.
[[nodiscard]] bool holds_bytes(CURL* easy) noexcept;

}  // namespace billcore::detail
