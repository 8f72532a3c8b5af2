// Whether the stream of an HTTP/2 answer ended with END_STREAM, which libcurl does not report. Internal.
#pragma once

namespace billcore::detail {

/// Whether this build can detect the flag END_STREAM. Only the Python wheel can detect END_STREAM, because in the wheel
/// the linker puts stream_end.cpp between libcurl and nghttp2.
#ifdef BILLCORE_BUNDLE
inline constexpr bool sees_stream_ends = true;
#else
inline constexpr bool sees_stream_ends = false;
#endif

}  // namespace billcore::detail
