// Hooks that observe a client: called before and after every attempt.
//
// Every on_request is followed by exactly one on_response, however the attempt ends: with an answer, a failure, a
// time-out, an exception, or because the caller cancelled or dropped the call. In a forked child no hook is called
// for attempts that the parent started.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "billcore/error.hpp"

namespace billcore {

/// One attempt of a call. The texts are valid only during the hook. An Attempt contains no header values and no
/// bodies, and ids only in `path`.
struct Attempt {
  std::string_view method;
  std::string_view route;  // such as /subscription/{id}; "(other)" for a path outside of the service interface
  int number = 1;          // number of this attempt, from 1
  int status = 0;          // HTTP status of the answer; 0 in on_request and without a complete answer
  ErrorCode failure = ErrorCode::ok;  // why there is no complete answer; interrupted: the attempt was abandoned
  std::chrono::microseconds duration{0};
  std::string_view request_id;        // request id of the answer; empty if absent
  std::chrono::milliseconds wait{0};  // on_retry: time until the next attempt
  /// After the attempt: false if no part of the request was sent, or if HTTP/2 proved that it was not processed.
  bool sent = false;
  bool outcome_unknown = false;  // after the attempt: true for a write that may or may not have happened
  /// Path of a write that was cancelled, interrupted, or ended by an exception after it had been sent; otherwise empty.
  /// Log the path, because the caller may get no error that mentions the write. The path is relative to the base URL,
  /// encoded, and contains the id.
  std::string_view path;
};

/// Threads: a hook runs on the thread that makes the call, so hooks run concurrently when threads share a client; for
/// an abandoned attempt, the hook runs on the thread that abandons the attempt. Exceptions from a hook are ignored,
/// because a hook must not change the outcome of a charge. A hook may make other calls, and may cancel its own
/// operation (AsyncClient::cancel). A hook that is called for a page must not use the list of that page.
class Hooks {
 public:
  Hooks() = default;
  virtual ~Hooks() = default;
  Hooks(const Hooks&) = delete;
  Hooks& operator=(const Hooks&) = delete;

  /// Called before an attempt; the attempt may still have to wait for a connection.
  virtual void on_request(const Attempt& /*attempt*/) {}
  /// Called after an attempt, with or without an answer. The destructor of a list or client also calls on_response() if
  /// attempts are in flight.
  virtual void on_response(const Attempt& /*attempt*/) {}
  /// Called before the wait for another attempt.
  virtual void on_retry(const Attempt& /*attempt*/) {}

  /// If every_attempt() returns false, only on_response() is called, and only for attempts with a `path`. In this way
  /// the library spends no time on hooks for attempts without a `path`.
  [[nodiscard]] virtual bool every_attempt() const noexcept { return true; }
};

}  // namespace billcore
