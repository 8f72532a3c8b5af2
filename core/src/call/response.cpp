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
    if (raise_on_error) detail::require_success(call_.request(), answer);
    return Response(std::move(answer.info), std::move(answer.body));
  });
}

Value Response::json() const {
  if (const auto problem = detail::problem_of_extent(body_); !problem.empty()) throw Error(ErrorCode::decode, problem);
  auto document = detail::Document::parse(SharedText::own(body_), {}, info_);
  const auto* root = document->root();
  return {std::move(document), root};
}

}  // namespace billcore
