// Relevant differences between releases of libcurl. Internal.
#pragma once

namespace billcore::detail {

/// Does this release (0xXXYYZZ) return while an HTTP/2 peer floods the connection with small frames (empty DATA, PING,
/// PRIORITY, WINDOW_UPDATE, …)? An older one keeps reading as long as anything arrives: a call then ends long after its
/// deadline, and an event loop is blocked. Tested: 7.88.1 and 8.5.0 do not return; 8.10.1, 8.14.1, 8.17.0 and 8.22.0
/// do.
[[nodiscard]] constexpr bool is_flood_proof(unsigned release) noexcept { return release >= 0x080A01; }

/// Does this release report every HTTP/2 stream that is cut before its END_STREAM? Others return success for a stream
/// that the server resets with NO_ERROR, as some proxies do when they lose the service. A length that is not met is
/// reported by all. Tested: 8.1.2 and 8.2.1 report it; 7.88.1, 8.3.0, 8.4.0, 8.5.0, 8.10.1, 8.14.1, 8.17.0 and 8.22.0 do
/// not, nor does 8.0.1, for the reason below.
[[nodiscard]] constexpr bool reports_cut_streams(unsigned release) noexcept {
  return release >= 0x080100 && release < 0x080300;
}

/// Does this release also return success when a whole HTTP/2 connection breaks off because its peer violates the
/// protocol? It then closes the connection. Tested: 7.88.1 and 8.0.1 do; 8.1.2, 8.2.1, 8.3.0, 8.4.0, 8.5.0 and 8.10.1
/// wait until the time-out; 8.14.1, 8.17.0 and 8.22.0 report it.
[[nodiscard]] constexpr bool hides_broken_connections(unsigned release) noexcept { return release < 0x080100; }

/// Does this release keep a dangling pointer to the last header line of a handle's previous request? If the first
/// header line of an answer begins with a blank, as a continuation line does, libcurl then writes into freed memory
/// (curl/curl#11103). Tested: 7.88.1 does, 8.22.0 does not.
[[nodiscard]] constexpr bool keeps_stale_header(unsigned release) noexcept { return release < 0x080101; }

}  // namespace billcore::detail
