// What the frames of HTTP/2 say about a request, and libcurl does not report: whether the stream of the answer ended
// with END_STREAM, and whether the service refused the request. Internal.
#pragma once

namespace billcore::detail {

/// Whether this build sees the frames. Only the Python wheel does, because in the wheel the linker puts streams.cpp
/// between libcurl and nghttp2.
#ifdef BILLCORE_BUNDLE
inline constexpr bool sees_streams = true;
#else
inline constexpr bool sees_streams = false;
#endif

}  // namespace billcore::detail
