// One request on the wire, and its outcome. Internal.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.hpp"
#include "http/request.hpp"

namespace billcore::detail {

enum class Failure : std::uint8_t {
  none,
  resolve,
  connect,
  handshake,    // the TLS handshake was broken off
  tls,          // the certificate or protocol is not acceptable
  certificate,  // the client's certificate is unusable, or the service rejects it
  timeout,
  reset,
  truncated,
  too_large,
  protocol,
  proxy,   // refused by the proxy
  memory,  // out of memory
  other
};

struct Transfer {
  Failure failure = Failure::none;
  std::string reason;             // error text, mostly libcurl's
  bool sent = false;              // sending began; false: nothing was sent
  SendTime sent_at;               // when sending began
  bool died_on_reuse = false;     // sent over a reused connection that the other side had closed
  bool dead_before_send = false;  // the same, noticed before anything was sent
  int status = 0;                 // 0 without a status line
  std::string head;               // the raw header lines; see head.hpp
  std::string body;
  bool is_delimited = false;  // the head or the transfer coding defines the end of the body
  Request request = {};
};

}  // namespace billcore::detail
