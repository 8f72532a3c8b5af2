// The linker redirects calls of libcurl to nghttp2 to this file: see core/cmake/dependencies.cmake.
#include "http/streams.hpp"

#include <nghttp2/nghttp2.h>

#include <atomic>
#include <cstdint>

#include "http/in_flight.hpp"

namespace billcore::detail {
namespace {

// libcurl's own callbacks for connections to a service.
std::atomic<nghttp2_on_frame_recv_callback> libcurl_on_frame{nullptr};
std::atomic<nghttp2_on_stream_close_callback> libcurl_on_close{nullptr};
// The callbacks that libcurl has set last, which may be those for a connection to a proxy.
thread_local nghttp2_on_frame_recv_callback last_on_frame = nullptr;
thread_local nghttp2_on_stream_close_callback last_on_close = nullptr;

InFlight* flight_of(nghttp2_session* session, std::int32_t stream) noexcept {
  void* const easy = nghttp2_session_get_stream_user_data(session, stream);  // set by libcurl
  void* flight = nullptr;
  if (easy != nullptr) curl_easy_getinfo(static_cast<CURL*>(easy), CURLINFO_PRIVATE, &flight);
  return static_cast<InFlight*>(flight);
}

// After a GOAWAY nghttp2 closes the streams that the service has not processed, with REFUSED_STREAM. If the service
// wants HTTP/1.1, that is the reason to report, and no proof that a write was not processed (RFC 9113, 8.7).
void note_goaway(nghttp2_session* session, const nghttp2_goaway& frame) noexcept {
  if (frame.error_code != NGHTTP2_HTTP_1_1_REQUIRED) return;
  const std::int64_t next = nghttp2_session_get_next_stream_id(session);
  for (auto stream = (std::int64_t{frame.last_stream_id} + 1) | 1; stream < next; stream += 2) {
    if (auto* const flight = flight_of(session, static_cast<std::int32_t>(stream))) {
      flight->note_refusal(Failure::http1_required);
    }
  }
}

// nghttp2 calls this function for each frame that has arrived completely.
int note_frame(nghttp2_session* session, const nghttp2_frame* frame, void* context) noexcept {
  const auto& head = frame->hd;
  const bool may_end = head.type == NGHTTP2_DATA || head.type == NGHTTP2_HEADERS;
  if (may_end && (head.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
    if (auto* const flight = flight_of(session, head.stream_id)) flight->stream_ended = true;
  } else if (head.type == NGHTTP2_GOAWAY) {
    note_goaway(session, frame->goaway);
  }
  return libcurl_on_frame.load(std::memory_order_relaxed)(session, frame, context);
}

int note_close(nghttp2_session* session, std::int32_t stream, std::uint32_t error, void* context) noexcept {
  if (error == NGHTTP2_REFUSED_STREAM || error == NGHTTP2_HTTP_1_1_REQUIRED) {
    const auto how = error == NGHTTP2_REFUSED_STREAM ? Failure::refused : Failure::http1_required;
    if (auto* const flight = flight_of(session, stream)) flight->note_refusal(how);
  }
  return libcurl_on_close.load(std::memory_order_relaxed)(session, stream, error, context);
}

}  // namespace
}  // namespace billcore::detail

extern "C" {
using Callbacks = nghttp2_session_callbacks;

void billcore_set_on_frame(Callbacks* callbacks, nghttp2_on_frame_recv_callback callback) asm(
    "__real_nghttp2_session_callbacks_set_on_frame_recv_callback");
void billcore_set_on_close(Callbacks* callbacks, nghttp2_on_stream_close_callback callback) asm(
    "__real_nghttp2_session_callbacks_set_on_stream_close_callback");
void billcore_set_on_begin_headers(Callbacks* callbacks, nghttp2_on_begin_headers_callback callback) asm(
    "__real_nghttp2_session_callbacks_set_on_begin_headers_callback");
void billcore_take_on_frame(Callbacks* callbacks, nghttp2_on_frame_recv_callback callback) asm(
    "__wrap_nghttp2_session_callbacks_set_on_frame_recv_callback");
void billcore_take_on_close(Callbacks* callbacks, nghttp2_on_stream_close_callback callback) asm(
    "__wrap_nghttp2_session_callbacks_set_on_stream_close_callback");
void billcore_add_callbacks(Callbacks* callbacks, nghttp2_on_begin_headers_callback callback) asm(
    "__wrap_nghttp2_session_callbacks_set_on_begin_headers_callback");

void billcore_take_on_frame(Callbacks* callbacks, nghttp2_on_frame_recv_callback callback) {
  billcore::detail::last_on_frame = callback;
  billcore_set_on_frame(callbacks, callback);
}

void billcore_take_on_close(Callbacks* callbacks, nghttp2_on_stream_close_callback callback) {
  billcore::detail::last_on_close = callback;
  billcore_set_on_close(callbacks, callback);
}

// libcurl calls this function for each connection to a service, as the last of the three, but not for connections to a
// proxy.
void billcore_add_callbacks(Callbacks* callbacks, nghttp2_on_begin_headers_callback callback) {
  using namespace billcore::detail;
  libcurl_on_frame.store(last_on_frame, std::memory_order_relaxed);
  libcurl_on_close.store(last_on_close, std::memory_order_relaxed);
  billcore_set_on_frame(callbacks, &note_frame);
  billcore_set_on_close(callbacks, &note_close);
  billcore_set_on_begin_headers(callbacks, callback);
}
}
