// What releases of libcurl can and cannot do, where that matters. Internal.
#pragma once

namespace billcore::detail {

/// Does this release (0xXXYYZZ) come back while the other side of an HTTP/2 connection floods it with small frames (empty
/// DATA, PING, PRIORITY, WINDOW_UPDATE, …)? An older one reads as long as anything arrives: a call then ends long after its
/// deadline, and an event loop stands still. Tried: 7.88.1 and 8.5.0 do not; 8.10.1, 8.14.1, 8.17.0 and 8.22.0 do.
[[nodiscard]] constexpr bool is_flood_proof(unsigned release) noexcept { return release >= 0x080A01; }

/// Does this release keep a pointer to the last header line of a handle's request before, which is freed by then? An answer whose
/// first header line begins with a blank, as if it went on with the one before it, is then written into memory that is
/// somebody else's (curl/curl#11103). Tried: 7.88.1 does, 8.22.0 does not.
[[nodiscard]] constexpr bool keeps_stale_header(unsigned release) noexcept { return release < 0x080101; }

}  // namespace billcore::detail
