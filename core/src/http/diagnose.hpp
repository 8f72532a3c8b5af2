// From libcurl's result, and what was seen on the way, to what became of a request: a pure function. Internal to the files of
// this room that know libcurl.
#pragma once

#include <curl/curl.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/head.hpp"
#include "http/transfer.hpp"

namespace billcore::detail {

constexpr std::size_t max_header_bytes = std::size_t{256}
                                         << 10U;  // below libcurl's own limit, which looks like a reset

/// What is known of a request when libcurl says that it has ended.
struct Evidence {
  CURLcode code = CURLE_OK;
  std::string_view words = {};    // libcurl's, about the code; empty: none
  int status = 0;                 // by libcurl's reading
  int tunnel_status = 0;          // what a proxy answered when it was asked for a tunnel
  bool sent = false;              // the request began to leave
  bool sent_again = false;        // libcurl was about to send it once more
  bool dead_before_send = false;  // the connection had ended before the request left
  bool out_of_memory = false;     // in one of our callbacks
  bool body_over_limit = false;
  std::size_t max_response = 0;  // that limit
  bool headers_over_limit = false;
  bool body_ended = true;        // false: the chunked coding was cut
  std::uint64_t read_ahead = 0;  // bytes that libcurl has read, and that are no part of an answer yet
};

struct Diagnosis {
  Failure failure = Failure::none;
  std::string reason = {};
  bool died_on_reuse = false;
  bool has_status = true;  // false: libcurl's status is not what the other side sent
};

[[nodiscard]] Diagnosis diagnose(const Evidence& evidence, const HeadReader& head);
/// Is the whole connection at an end, not one of its streams?
[[nodiscard]] bool breaks_connection(CURLcode code) noexcept;

}  // namespace billcore::detail
