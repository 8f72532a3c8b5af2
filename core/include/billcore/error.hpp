// Errors: one exception class, one closed and numbered code.
//
// Every failure of billcore is a billcore::Error (out of memory: std::bad_alloc). code() is its kind, what() is one line that
// says what was wrong and what to do, detail() holds the rest. Secrets and API keys never appear in any of them.
// Threads: immutable; may be copied and read from any thread.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "billcore/error_code.hpp"
#include "billcore/values.hpp"

namespace billcore {

class Value;

/// What is known about a failure besides its code and text. Members that do not apply are empty.
struct ErrorDetail {
  int http_status = 0;      // the service's answer, or the suggested one for a signature
  std::string api_code;     // error.code of the service's error body
  std::string api_message;  // error.message of the service's error body
  std::string body;         // the answer's text, scrubbed and truncated
  std::string request_id;   // value of the request id header
  std::vector<std::pair<std::string, std::string>> headers = {};  // of the answer, as ResponseInfo::headers()
  std::optional<double> retry_after;                              // seconds
  int attempts = 0;                                               // how often the request was sent or tried
  bool outcome_unknown = false;                                   // a write may or may not have happened
  SignatureReason reason = SignatureReason::none;
  std::string method;                        // of the request
  std::string path;                          // of the request, relative to the base URL
  std::string field_path;                    // decode, missing_field, out_of_range: the JSON value, such as data.price
  std::optional<Instant> attempted_at = {};  // when a write of unknown outcome left, by the local clock
  /// The service's clock at that time, from the Date header of an answer; nullopt when no answer had one.
  std::optional<Instant> service_time = {};
  ErrorCode cause = ErrorCode::ok;  // outcome_unknown, possibly_missed: what went wrong
  std::string cause_message;
  /// possibly_missed: the orders that the search has found, latest first.
  std::shared_ptr<const std::vector<Value>> found = {};
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
