// Maps libcurl's result and the observations of the callbacks to the outcome of a request: a pure function. Only for
// files in http/ that use libcurl.
#pragma once

#include <curl/curl.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/head.hpp"
#include "http/transfer.hpp"

namespace billcore::detail {

// Lower than libcurl's own limit, because libcurl's error for headers over that limit looks like a reset.
constexpr std::size_t max_header_bytes = std::size_t{256} << 10U;

/// The facts about a request that are available when libcurl reports that the request has ended.
struct Evidence {
  CURLcode code = CURLE_OK;
  std::string_view words = {};      // libcurl's error text; empty if there is none
  int status = 0;                   // HTTP status as parsed by libcurl
  int tunnel_status = 0;            // status of the proxy's answer to CONNECT
  bool sent = false;                // libcurl began to send the request
  bool sent_again = false;          // libcurl tried to send the request again
  bool dead_before_send = false;    // the connection was closed before the request was sent
  bool late = false;                // the deadline had passed before the request was sent
  bool unnamed = false;             // the service's certificate has no subject alternative name
  bool unheld = false;              // the kernel refused Connection::hold(), so the write was not sent
  Failure refusal = Failure::none;  // the service refused the request: refused or http1_required
  bool out_of_memory = false;       // memory ran out in one of the callbacks
  bool body_over_limit = false;
  std::size_t max_response = 0;  // the configured limit of the body's size
  bool headers_over_limit = false;
  bool body_ended = true;        // false: the chunked body was truncated
  std::uint64_t body = 0;        // bytes of the body, before its content coding was decoded
  bool reports_cuts = false;     // `code` or `stream_ended` shows whether an HTTP/2 stream was cut
  bool stream_ended = true;      // false: the HTTP/2 stream was closed without END_STREAM
  bool whole = false;            // libcurl reports a failure, but the whole answer has arrived
  bool lost = false;             // libcurl closed the HTTP/2 connection that carried the answer
  std::uint64_t read_ahead = 0;  // bytes that libcurl has read but not parsed as part of an answer
};

struct Diagnosis {
  Failure failure = Failure::none;
  std::string reason = {};
  bool died_on_reuse = false;
  bool has_status = true;  // false: libcurl reports a status that the peer did not send
  Ending ending = Ending::framed;
};

[[nodiscard]] Diagnosis diagnose(const Evidence& evidence, const HeadReader& head);
/// Whether the result code means that the whole connection is broken, not only one of its streams.
[[nodiscard]] bool breaks_connection(CURLcode code) noexcept;

}  // namespace billcore::detail
