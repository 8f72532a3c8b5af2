// What the TLS layer of a connection tells. For the files of this room that know libcurl.
#pragma once

#include "http/in_flight.hpp"

namespace billcore::detail {

/// What the handshake says of a connection, on its first request.
void learn(const InFlight& flight, Connection& connection) noexcept;
/// Has the TLS library read bytes of an HTTP/1 connection that libcurl has not taken from it? poll() cannot see those.
[[nodiscard]] bool holds_bytes(CURL* easy) noexcept;

}  // namespace billcore::detail
