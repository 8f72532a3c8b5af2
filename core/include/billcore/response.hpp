// Results of an operation. A Response is immutable and may be used on any thread; a Completed belongs to one thread.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "billcore/resource.hpp"

namespace billcore {

class Error;
namespace detail {
class Document;
class Call;
}  // namespace detail

/// An answer as received, for requests whose answer is not a resource or a list.
class Response {
 public:
  Response(std::shared_ptr<const ResponseInfo> info, std::string body, std::shared_ptr<const Error> unread = nullptr)
      : info_(std::move(info)), body_(std::move(body)), unread_(std::move(unread)) {}
  [[nodiscard]] int status() const noexcept { return info_->status(); }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& headers() const { return info_->headers(); }
  /// The body, after a content coding (gzip or deflate) was decoded; throws Error(decode) if it cannot be decoded. The
  /// headers stay as received: Content-Encoding and Content-Length describe the encoded body.
  [[nodiscard]] const std::string& body() const;
  /// Parses the body; throws Error(decode) when the body is not JSON.
  [[nodiscard]] Value json() const;
  [[nodiscard]] const std::shared_ptr<const ResponseInfo>& response_info() const noexcept { return info_; }

 private:
  std::shared_ptr<const ResponseInfo> info_;
  std::string body_;
  std::shared_ptr<const Error> unread_;  // why the body cannot be read; nullptr if it can
};

/// A finished operation. A Completed is valid only while the function that receives it runs. Call exactly one of the
/// member functions, and only once; if the operation failed, that function throws the operation's Error.
class Completed {
 public:
  explicit Completed(detail::Call& call) noexcept : call_(call) {}
  /// The object `data` of a successful answer.
  [[nodiscard]] Value resource();
  /// A page of a list: an answer with the array `data` and the object `pagination`.
  [[nodiscard]] std::shared_ptr<const detail::Document> list();
  /// Any successful answer; if `raise_on_error` is false, any complete answer.
  [[nodiscard]] Response response(bool raise_on_error = true);

 private:
  detail::Call& call_;
};

}  // namespace billcore
