// One request as the transport sends it. Internal.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace billcore::detail {

/// Request headers as libcurl wants them: made once, shared by many requests. Threads: immutable.
class RequestHeaders {
 public:
  /// lines: "Name: value".
  explicit RequestHeaders(const std::vector<std::string>& lines);
  ~RequestHeaders();
  RequestHeaders(const RequestHeaders&) = delete;
  RequestHeaders& operator=(const RequestHeaders&) = delete;

 private:
  friend class Engine;  // prepares requests with them
  struct Lists;
  std::unique_ptr<const Lists> lists_;
};

struct Request {
  std::string method;
  std::string url;
  std::optional<std::string> body;  // JSON; an engaged empty one is not sent as a body
  Deadline deadline;
  std::shared_ptr<const RequestHeaders> headers;
  bool fresh = false;  // over a new connection
};

}  // namespace billcore::detail
