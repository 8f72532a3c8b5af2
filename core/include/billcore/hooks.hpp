// Hooks that observe a client: called before and after every attempt.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "billcore/error.hpp"

namespace billcore {

/// One attempt of a call. The texts are valid only during the hook. Never contains header values, ids or bodies.
struct Attempt {
  std::string_view method;
  std::string_view route;  // for example /subscription/{id}; "(other)" for a path that is not part of the interface
  int number = 1;          // number of this attempt, from 1
  int status = 0;          // of the answer; 0 in on_request and without a complete answer
  ErrorCode failure = ErrorCode::ok;  // why there is no complete answer
  std::chrono::microseconds duration{0};
  std::string_view request_id;        // of the answer; empty if absent
  std::chrono::milliseconds wait{0};  // on_retry: until the next attempt
};

/// Threads: called on the thread of the call, so concurrently when a client is shared. Exceptions from a hook are
/// ignored: a hook must not change the outcome of a charge.
class Hooks {
 public:
  Hooks() = default;
  virtual ~Hooks() = default;
  Hooks(const Hooks&) = delete;
  Hooks& operator=(const Hooks&) = delete;

  /// Before an attempt; it may still have to wait for a connection.
  virtual void on_request(const Attempt& /*attempt*/) {}
  /// After an attempt, with or without an answer.
  virtual void on_response(const Attempt& /*attempt*/) {}
  /// Before the wait for another attempt.
  virtual void on_retry(const Attempt& /*attempt*/) {}
};

}  // namespace billcore
