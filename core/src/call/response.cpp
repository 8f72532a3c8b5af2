#include "billcore/response.hpp"

#include <utility>

#include "billcore/detail/document.hpp"
#include "billcore/error.hpp"
#include "call/call.hpp"
#include "json/json_scan.hpp"

namespace billcore {

Value Completed::resource() {
  return call_.telling_whether_sent([this] { return detail::read_resource(call_.request(), call_.answer()); });
}

std::shared_ptr<const detail::Document> Completed::list() {
  return call_.telling_whether_sent([this] { return detail::read_list(call_.request(), call_.answer()); });
}

Response Completed::response(bool raise_on_error) {
  return call_.telling_whether_sent([&] {
    auto answer = call_.answer();
    const auto request = call_.request();
    // An error status is raised even if raise_on_error is false, when the answer's body cannot be decoded: Error(decode)
    // would mean that a write was done.
    if (raise_on_error || !answer.unread.empty()) detail::require_success(request, answer);
    std::shared_ptr<const Error> unread;
    try {
      detail::require_readable(request, answer);
    } catch (const Error& error) {
      unread = std::make_shared<const Error>(error);
    }
    return Response(std::move(answer.info), std::move(answer.body), std::move(unread));
  });
}

const std::string& Response::body() const {
  if (unread_ != nullptr) throw *unread_;
  return body_;
}

Value Response::json() const {
  if (const auto problem = detail::problem_of_extent(body()); !problem.empty()) throw Error(ErrorCode::decode, problem);
  auto document = detail::Document::parse(SharedText::own(body_), {}, info_);
  const auto* root = document->root();
  return {std::move(document), root};
}

}  // namespace billcore
