// How a client makes its lists. Internal.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "billcore/detail/list.hpp"
#include "call/session.hpp"
#include "paging/page_flow.hpp"

namespace billcore::detail {

/// What a list made with these begins with: concurrency and what tells it from other lists are filled in.
[[nodiscard]] PagerOptions complete(const Session& session, const ListOperation& list, PagerOptions options);
/// A list that waits for its pages. Error(config) after Client::close().
[[nodiscard]] std::shared_ptr<PageFlow> blocking_list(SessionPtr session, ListOperation list, PagerOptions options,
                                                      const CallOptions& call);

}  // namespace billcore::detail
