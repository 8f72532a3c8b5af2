// Errors: one exception class, one closed and numbered code.
//
// Every failure of billcore is a billcore::Error (out of memory: std::bad_alloc). The code says what kind it is, what()
// is one line that says what was wrong and what to do, detail() holds the rest. Secrets and API keys never appear in
// either. Threads: immutable, may be copied and read anywhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "billcore/values.hpp"

namespace billcore {

/// Append-only; the numbers are those of billcore_status in the C ABI and never change.
enum class ErrorCode : std::int32_t {
  ok = 0,
  done = 1,  // end of an iteration in the C ABI; never thrown
  invalid_argument = 2,
  config = 3,
  out_of_memory = 4,
  internal = 5,
  signature = 6,
  decode = 7,
  out_of_range = 8,
  api = 9,
  authentication = 10,
  payment = 11,
  not_found = 12,
  validation = 13,
  rate_limit = 14,
  server = 15,
  transport = 16,
  timeout = 17,
  connection = 18,
  tls = 19,
  outcome_unknown = 20,
  pagination = 21,
  interrupted = 22,
  missing_field = 23,  // a required field that was read is absent; null or a wrong type is decode
};

/// One row of the table that all languages share.
struct ErrorCodeRow {
  ErrorCode code;
  const char* name;          // billcore_status: BILLCORE_<name>
  const char* python_class;  // exception class in Python
};

inline constexpr std::array<ErrorCodeRow, 24> error_code_table{{
    {ErrorCode::ok, "OK", ""},
    {ErrorCode::done, "DONE", "StopIteration"},
    {ErrorCode::invalid_argument, "INVALID_ARGUMENT", "InvalidArgumentError"},
    {ErrorCode::config, "CONFIG", "ConfigError"},
    {ErrorCode::out_of_memory, "OUT_OF_MEMORY", "MemoryError"},
    {ErrorCode::internal, "INTERNAL", "BillcoreError"},
    {ErrorCode::signature, "SIGNATURE", "SignatureError"},
    {ErrorCode::decode, "DECODE", "DecodeError"},
    {ErrorCode::out_of_range, "OUT_OF_RANGE", "DecodeError"},
    {ErrorCode::api, "API", "ApiError"},
    {ErrorCode::authentication, "AUTHENTICATION", "AuthenticationError"},
    {ErrorCode::payment, "PAYMENT", "PaymentError"},
    {ErrorCode::not_found, "NOT_FOUND", "NotFoundError"},
    {ErrorCode::validation, "VALIDATION", "ValidationError"},
    {ErrorCode::rate_limit, "RATE_LIMIT", "RateLimitError"},
    {ErrorCode::server, "SERVER", "ServerError"},
    {ErrorCode::transport, "TRANSPORT", "TransportError"},
    {ErrorCode::timeout, "TIMEOUT", "TimeoutError"},
    {ErrorCode::connection, "CONNECTION", "ConnectionError"},
    {ErrorCode::tls, "TLS", "TlsError"},
    {ErrorCode::outcome_unknown, "OUTCOME_UNKNOWN", "OutcomeUnknownError"},
    {ErrorCode::pagination, "PAGINATION", "PaginationError"},
    {ErrorCode::interrupted, "INTERRUPTED", "KeyboardInterrupt"},
    {ErrorCode::missing_field, "MISSING_FIELD", "MissingFieldError"},
}};

/// Why a signature check failed, in the order in which the checks are made.
enum class SignatureReason : std::int32_t {
  none = 0,
  body_too_large = 1,  // suggested answer 413
  missing = 2,         // 401
  malformed = 3,       // 400
  mismatch = 4,        // 401
  stale = 5,           // 400
};

[[nodiscard]] const char* to_string(SignatureReason reason) noexcept;
/// The HTTP status a receiver should answer with.
[[nodiscard]] int suggested_http_status(SignatureReason reason) noexcept;

/// What is known about a failure besides its code and text; what does not apply is left empty.
struct ErrorDetail {
  int http_status = 0;                // the service's answer, or the suggested one for a signature
  std::string api_code;               // error.code of the service's error body
  std::string api_message;            // error.message of the service's error body
  std::string body;                   // the answer's text, scrubbed and truncated
  std::string request_id;             // value of the request id header
  std::optional<double> retry_after;  // seconds
  int attempts = 0;                   // how often the request was sent or tried
  bool outcome_unknown = false;       // a write may or may not have happened
  SignatureReason reason = SignatureReason::none;
  std::string method;                        // of the request
  std::string path;                          // of the request, relative to the base URL
  std::string field_path;                    // decode, missing_field, out_of_range: the JSON value, such as data.price
  std::optional<Instant> attempted_at = {};  // when a write of unknown outcome left
  ErrorCode cause = ErrorCode::ok;           // outcome_unknown: what went wrong on the wire
  std::string cause_message;
};

class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message, ErrorDetail detail = {});

  [[nodiscard]] ErrorCode code() const noexcept { return state_->code; }
  [[nodiscard]] const char* what() const noexcept override { return state_->message.c_str(); }
  [[nodiscard]] const std::string& message() const noexcept { return state_->message; }
  [[nodiscard]] const ErrorDetail& detail() const noexcept { return state_->detail; }

 private:
  struct State {
    ErrorCode code;
    std::string message;
    ErrorDetail detail;
  };
  std::shared_ptr<const State> state_;  // shared, so that copying an exception cannot throw
};

}  // namespace billcore
