// Results of an operation. A Response is immutable and may be used on any thread; a Completed belongs to one thread.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "billcore/resource.hpp"

namespace billcore {

namespace detail {
class Document;
class Call;
}  // namespace detail

/// An answer as received, for requests whose answer is not a resource or a list.
class Response {
 public:
  Response(std::shared_ptr<const ResponseInfo> info, std::string body)
      : info_(std::move(info)), body_(std::move(body)) {}
  [[nodiscard]] int status() const noexcept { return info_->status(); }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& headers() const { return info_->headers(); }
  [[nodiscard]] const std::string& body() const noexcept { return body_; }
  /// Parses the body; throws Error(decode) when the body is not JSON.
  [[nodiscard]] Value json() const;
  [[nodiscard]] const std::shared_ptr<const ResponseInfo>& response_info() const noexcept { return info_; }

 private:
  std::shared_ptr<const ResponseInfo> info_;
  std::string body_;
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
