// Relevant differences between releases of libcurl. Internal.
#pragma once

namespace billcore::detail {

/// Does this release (0xXXYYZZ) return while an HTTP/2 peer floods the connection with small frames (empty DATA, PING,
/// PRIORITY, WINDOW_UPDATE, …)? An older one keeps reading as long as anything arrives: a call then ends long after its
/// deadline, and an event loop is blocked. Tested: 7.88.1 and 8.5.0 do not return; 8.10.1, 8.14.1, 8.17.0 and 8.22.0
/// do.
[[nodiscard]] constexpr bool is_flood_proof(unsigned release) noexcept { return release >= 0x080A01; }

/// Does this release keep a dangling pointer to the last header line of a handle's previous request? If the first
/// header line of an answer begins with a blank, as a continuation line does, libcurl then writes into freed memory
/// (curl/curl#11103). Tested: 7.88.1 does, 8.22.0 does not.
[[nodiscard]] constexpr bool keeps_stale_header(unsigned release) noexcept { return release < 0x080101; }

}  // namespace billcore::detail
