// One request on the wire, and its outcome. Internal.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.hpp"

namespace billcore::detail {

enum class Failure : std::uint8_t {
  none,
  resolve,
  connect,
  handshake,    // the TLS handshake broke off
  tls,          // the certificate or protocol is not acceptable
  certificate,  // the client's certificate is unusable, or the service rejects it
  timeout,
  reset,
  truncated,
  too_large,
  protocol,
  proxy,           // the proxy refused the connection
  refused,         // HTTP/2 proved that the request was not processed
  http1_required,  // the service refused HTTP/2 and asks for HTTP/1.1
  memory,          // out of memory
  other
};

/// The sign by which the client detects the end of an answer's body.
enum class Ending : std::uint8_t {
  framed,  // the answer's length, chunks or status, or the end of its HTTP/2 stream
  closed,  // only the end of an HTTP/1 connection, which may have broken off
  unseen,  // unknown: libcurl does not report whether the HTTP/2 stream ended or was cut
  cut,     // the answer ended, but its content coding breaks off
};

struct Transfer {
  Failure failure = Failure::none;
  std::string reason;  // error text, usually from libcurl; without a failure: why `body` cannot be decoded
  /// libcurl began to send the request. False: nothing was sent, or HTTP/2 proved that it was not processed.
  bool sent = false;
  SendTime sent_at;               // time at which libcurl began to send the request
  bool sent_late = false;         // the request may have left after its deadline: see Engine::Impl::note_late()
  bool died_on_reuse = false;     // the request was sent over a reused connection that the peer had closed
  bool dead_before_send = false;  // the peer had closed a reused connection before libcurl began to send
  int status = 0;                 // 0 if no status line arrived
  std::string head;               // the raw header lines; see head.hpp
  std::string body;
  Ending ending = Ending::framed;
  bool breaks_off = false;  // the body is complete by its declared length, but its JSON is not
};

}  // namespace billcore::detail
