// A request for the transport. Internal.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace billcore::detail {

/// Request headers in libcurl's form: built once, shared by many requests. Immutable. Threads: any.
class RequestHeaders {
 public:
  /// Each of `lines` has the form "Name: value".
  explicit RequestHeaders(const std::vector<std::string>& lines);
  ~RequestHeaders();
  RequestHeaders(const RequestHeaders&) = delete;
  RequestHeaders& operator=(const RequestHeaders&) = delete;

 private:
  friend class Engine;  // an Engine builds requests with these headers
  struct Lists;
  std::unique_ptr<const Lists> lists_;
};

struct Request {
  std::string method;
  std::string url;
  std::optional<std::string> body;  // JSON; nullopt or empty: no body
  Deadline deadline;
  std::shared_ptr<const RequestHeaders> headers;
  bool fresh = false;  // send the request over a new connection
  bool write = false;  // a write, which must not reach the service after the client has given it up
};

}  // namespace billcore::detail
