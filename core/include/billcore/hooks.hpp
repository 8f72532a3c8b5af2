// Being told what a client does: one object, called before and after every attempt.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "billcore/error.hpp"

namespace billcore {

/// One attempt of a call. The texts are valid during the hook only. Values of headers, ids and bodies are never in it.
struct Attempt {
  std::string_view method;
  std::string_view route;             // such as /subscription/{id}; "(other)" when the interface has no such path
  int number = 1;                     // of this attempt
  int status = 0;                     // of the answer; 0 when no complete one came, and in on_request
  ErrorCode failure = ErrorCode::ok;  // why no complete answer came
  std::chrono::microseconds duration{0};
  std::string_view request_id;        // of the answer; empty: none
  std::chrono::milliseconds wait{0};  // on_retry: until the next attempt
};

/// Threads: called on the thread of the call, so by several at once when a client is shared. What a hook throws is
/// ignored: it must not change what becomes of a charge.
class Hooks {
 public:
  Hooks() = default;
  virtual ~Hooks() = default;
  Hooks(const Hooks&) = delete;
  Hooks& operator=(const Hooks&) = delete;

  /// An attempt begins; it may have to wait for a connection.
  virtual void on_request(const Attempt& /*attempt*/) {}
  /// An attempt has ended, with an answer or without one.
  virtual void on_response(const Attempt& /*attempt*/) {}
  /// There will be another attempt.
  virtual void on_retry(const Attempt& /*attempt*/) {}
};

}  // namespace billcore
