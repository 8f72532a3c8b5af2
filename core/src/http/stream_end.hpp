// Whether the stream of an HTTP/2 answer ended with END_STREAM, which libcurl does not tell. Internal.
#pragma once

namespace billcore::detail {

/// Is it known? Only in the wheel, which has nghttp2 linked in: the linker puts stream_end.cpp between it and libcurl.
#ifdef BILLCORE_BUNDLE
inline constexpr bool sees_stream_ends = true;
#else
inline constexpr bool sees_stream_ends = false;
#endif

}  // namespace billcore::detail
