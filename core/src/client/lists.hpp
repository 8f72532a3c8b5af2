// Creates the lists of a client. Internal.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "billcore/detail/list.hpp"
#include "call/session.hpp"
#include "paging/page_flow.hpp"

namespace billcore::detail {

/// Completes the options with the concurrency of the client, and with the fingerprint and the path of the list.
[[nodiscard]] PagerOptions complete(const Session& session, const ListOperation& list, PagerOptions options);
/// Makes PagerOptions from the options that every query has: page, strict and resume. The text of `resume` must
/// outlive the result.
template <typename Query>
[[nodiscard]] PagerOptions pager_options(const Query& query) {
  return {query.page, 1, query.strict, query.resume, 0, {}};
}
/// A list that blocks until its pages arrive. Throws Error(config) after Client::close().
[[nodiscard]] std::shared_ptr<PageFlow> blocking_list(SessionPtr session, ListOperation list, PagerOptions options,
                                                      const CallOptions& call);

}  // namespace billcore::detail
