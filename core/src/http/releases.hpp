// Relevant differences between releases of libcurl, and whether HTTP/2 is offered by default. Internal.
#pragma once

#include "http/streams.hpp"

namespace billcore::detail {

/// Whether this libcurl release (0xXXYYZZ) returns to its caller while an HTTP/2 peer floods the connection with small
/// frames (empty DATA, PING, PRIORITY, WINDOW_UPDATE, …). Releases before 8.10.1 keep reading as long as frames arrive:
/// a call then ends long after its deadline, and an event loop is blocked. Tested: during a flood 7.88.1 and 8.5.0 do
/// not return; 8.10.1, 8.14.1, 8.17.0 and 8.22.0 return.
[[nodiscard]] constexpr bool is_flood_proof(unsigned release) noexcept { return release >= 0x080A01; }

/// Whether this release reports every HTTP/2 stream that is cut before its END_STREAM. A release for which the result
/// is false returns success for a stream that the server resets with NO_ERROR, as some proxies do when they lose the
/// connection to the service. All releases report a body that is shorter than its Content-Length. Tested: 8.1.2 and
/// 8.2.1 report the cut; 7.88.1, 8.3.0, 8.4.0, 8.5.0, 8.10.1, 8.14.1, 8.17.0 and 8.22.0 do not, nor does 8.0.1 (see
/// hides_broken_connections).
[[nodiscard]] constexpr bool reports_cut_streams(unsigned release) noexcept {
  return release >= 0x080100 && release < 0x080300;
}

/// The default of the option http2: HTTP/2 is offered only if this release withstands floods, and a cut answer is
/// noticed.
[[nodiscard]] constexpr bool offers_http2(unsigned release) noexcept {
  return is_flood_proof(release) && (sees_streams || reports_cut_streams(release));
}

/// Whether this release returns success, and closes the connection, when a whole HTTP/2 connection breaks off because
/// its peer violates the protocol. Tested: 7.88.1 and 8.0.1 return success; 8.1.2, 8.2.1, 8.3.0, 8.4.0, 8.5.0 and
/// 8.10.1 wait until the time-out; 8.14.1, 8.17.0 and 8.22.0 report the violation.
[[nodiscard]] constexpr bool hides_broken_connections(unsigned release) noexcept { return release < 0x080100; }

/// Whether this release keeps a dangling pointer to the last header line of a handle's previous request. If the first
/// header line of an answer begins with a blank, as a continuation line does, a release with this pointer writes into
/// freed memory (curl/curl#11103). Tested: 7.88.1 keeps the pointer, 8.22.0 does not.
[[nodiscard]] constexpr bool keeps_stale_header(unsigned release) noexcept { return release < 0x080101; }

}  // namespace billcore::detail
