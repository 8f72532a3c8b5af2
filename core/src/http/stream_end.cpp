// Records whether HTTP/2 streams end with the flag END_STREAM. The linker redirects a call of libcurl to nghttp2 to
// this file: see core/cmake/dependencies.cmake.
#include "http/stream_end.hpp"

#include <nghttp2/nghttp2.h>

#include "http/in_flight.hpp"

namespace billcore::detail {
namespace {

// nghttp2 calls this function for each frame when the frame's header has arrived. If the remaining bytes of the frame
// do not arrive, libcurl reports an error.
int note_end(nghttp2_session* session, const nghttp2_frame_hd* frame, void* /*context*/) noexcept {
  const bool may_end = frame->type == NGHTTP2_DATA || frame->type == NGHTTP2_HEADERS;
  if (!may_end || (frame->flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
  void* const easy = nghttp2_session_get_stream_user_data(session, frame->stream_id);  // set by libcurl
  void* flight = nullptr;
  if (easy != nullptr) curl_easy_getinfo(static_cast<CURL*>(easy), CURLINFO_PRIVATE, &flight);
  if (flight != nullptr) static_cast<InFlight*>(flight)->stream_ended = true;
  return 0;
}

}  // namespace
}  // namespace billcore::detail

extern "C" {
void billcore_set_on_begin_headers(
    nghttp2_session_callbacks* callbacks,
    nghttp2_on_begin_headers_callback callback) asm("__real_nghttp2_session_callbacks_set_on_begin_headers_callback");
void billcore_add_callback(nghttp2_session_callbacks* callbacks, nghttp2_on_begin_headers_callback callback) asm(
    "__wrap_nghttp2_session_callbacks_set_on_begin_headers_callback");

// libcurl calls this function for each connection to a service, but not for connections to a proxy. libcurl itself sets
// no on_begin_frame callback, so this callback does not replace one of libcurl's.
void billcore_add_callback(nghttp2_session_callbacks* callbacks, nghttp2_on_begin_headers_callback callback) {
  nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, &billcore::detail::note_end);
  billcore_set_on_begin_headers(callbacks, callback);
}
}
