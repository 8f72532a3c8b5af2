// Error, the only exception class of billcore, with a code from a fixed, numbered list.
//
// Every failure of billcore is a billcore::Error (out of memory: std::bad_alloc). code() is the kind of error, what()
// is one line that describes the failure and the remedy, detail() has all other details. An Error never contains
// secrets or API keys. Threads: immutable; may be copied and read from any thread.
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

/// Details of a failure, in addition to its code and text. Members that do not apply are empty.
struct ErrorDetail {
  int http_status = 0;      // HTTP status of the answer; for a signature error, the status the receiver should send
  std::string api_code;     // error.code of the service's error body
  std::string api_message;  // error.message of the service's error body
  std::string body;         // the answer's body, redacted and truncated
  std::string request_id;   // value of the request id header
  std::vector<std::pair<std::string, std::string>> headers = {};  // headers of the answer, as ResponseInfo::headers()
  std::optional<double> retry_after;                              // seconds
  int attempts = 0;                                               // number of attempts of the request
  bool outcome_unknown = false;                                   // a write may or may not have happened
  /// A write may have been sent after its deadline, because the process or the machine was stopped while it was sent.
  bool sent_late = false;
  SignatureReason reason = SignatureReason::none;
  std::string method;                        // HTTP method of the request
  std::string path;                          // path of the request, relative to the base URL
  std::string field_path;                    // decode, missing_field, out_of_range: path of the value, like data.price
  std::optional<Instant> attempted_at = {};  // time at which a write of unknown outcome was sent, by the local clock
  /// The service's time at `attempted_at`, from the Date header of an answer; nullopt when no answer had one.
  std::optional<Instant> service_time = {};
  ErrorCode cause = ErrorCode::ok;  // outcome_unknown, possibly_missed: the underlying failure
  std::string cause_message;
  /// With the code possibly_missed: the orders that the search has found, latest first.
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
  std::shared_ptr<const State> state_;  // a shared_ptr, because copying an exception must not throw
};

}  // namespace billcore
