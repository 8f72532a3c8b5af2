#include "billcore/error.hpp"

#include <utility>

namespace billcore {

Error::Error(ErrorCode code, std::string message, ErrorDetail detail)
    : state_(std::make_shared<const State>(State{code, std::move(message), std::move(detail)})) {}

const char* to_string(SignatureReason reason) noexcept {
  switch (reason) {
    case SignatureReason::none:
      return "none";
    case SignatureReason::body_too_large:
      return "body_too_large";
    case SignatureReason::missing:
      return "missing";
    case SignatureReason::malformed:
      return "malformed";
    case SignatureReason::mismatch:
      return "mismatch";
    case SignatureReason::stale:
      return "stale";
  }
  return "none";
}

int suggested_http_status(SignatureReason reason) noexcept {
  switch (reason) {
    case SignatureReason::none:
      return 200;
    case SignatureReason::body_too_large:
      return 413;
    case SignatureReason::missing:
      return 401;
    case SignatureReason::malformed:
      return 400;
    case SignatureReason::mismatch:
      return 401;
    case SignatureReason::stale:
      return 400;
  }
  return 400;
}

}  // namespace billcore
