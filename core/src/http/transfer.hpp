// One request on the wire, and what became of it. Internal.
#pragma once

#include <cstdint>
#include <string>

#include "billcore/values.hpp"
#include "http/request.hpp"

namespace billcore::detail {

enum class Failure : std::uint8_t {
  none,
  resolve,
  connect,
  handshake,    // TLS that broke off
  tls,          // a certificate or protocol that is not accepted
  certificate,  // the client's own, which cannot be used, or which the service does not accept
  timeout,
  reset,
  truncated,
  too_large,
  protocol,
  proxy,   // refused by the proxy
  memory,  // ran out
  other
};

struct Transfer {
  Failure failure = Failure::none;
  std::string reason;             // libcurl's words
  bool sent = false;              // the request began to leave; false: nothing was sent
  Instant sent_at;                // at that moment
  bool died_on_reuse = false;     // it left over a kept connection that the other side had given up
  bool dead_before_send = false;  // that was noticed in time, and nothing was sent
  int status = 0;                 // 0 when no status line came
  std::string head;               // the header lines as they came; see head.hpp
  std::string body;
  bool is_delimited = false;  // the head or the coding says where the body ends
  Request request = {};
};

}  // namespace billcore::detail
