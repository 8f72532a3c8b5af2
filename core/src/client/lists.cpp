#include "client/lists.hpp"

#include <utility>

#include "http/url.hpp"
#include "paging/blocking_source.hpp"
#include "paging/recent_ids.hpp"

namespace billcore::detail {
namespace {

// Identifies a list, so that resuming with the state of another list is rejected.
std::uint64_t fingerprint(const Session& session, const ListOperation& list) {
  return text_hash(session.settings().options.base_url + list.path + '?' + query_string(list.query));
}

}  // namespace

PagerOptions complete(const Session& session, const ListOperation& list, PagerOptions options) {
  options.concurrency = session.settings().options.concurrency;
  options.list = fingerprint(session, list);
  options.path = list.path;
  return options;
}

std::shared_ptr<PageFlow> blocking_list(SessionPtr session, ListOperation list, PagerOptions options,
                                        const CallOptions& call) {
  session->require_open();
  options = complete(*session, list, std::move(options));
  options.total_timeout = call.total_timeout;
  auto source = std::make_unique<BlockingSource>(std::move(session), std::move(list), call);
  return std::make_shared<PageFlow>(options, std::move(source));
}

}  // namespace billcore::detail
