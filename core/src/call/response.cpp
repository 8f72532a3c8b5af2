#include "billcore/response.hpp"

#include <utility>

#include "billcore/detail/document.hpp"
#include "billcore/error.hpp"
#include "call/exchange.hpp"
#include "json/json_scan.hpp"

namespace billcore {

Value Completed::resource() {
  return exchange_.telling_whether_sent(
      [this] { return detail::read_resource(exchange_.request(), exchange_.answer()); });
}

std::shared_ptr<const detail::Document> Completed::list() {
  return exchange_.telling_whether_sent([this] { return detail::read_list(exchange_.request(), exchange_.answer()); });
}

Response Completed::response(bool raise_on_error) {
  return exchange_.telling_whether_sent([&] {
    auto answer = exchange_.answer();
    if (raise_on_error) detail::require_success(exchange_.request(), answer);
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
