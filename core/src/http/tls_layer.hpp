// Queries the TLS layer of a connection. Only for files in http/ that use libcurl.
#pragma once

#include "http/in_flight.hpp"

namespace billcore::detail {

/// Records what the handshake says about a connection; called on its first request.
void learn(const InFlight& flight, Connection& connection) noexcept;
/// Has the TLS library buffered bytes of an HTTP/1 connection that libcurl has not read yet? poll() cannot see those.
[[nodiscard]] bool holds_bytes(CURL* easy) noexcept;

}  // namespace billcore::detail
