#include "paging/blocking_source.hpp"

#include <utility>

#include "base/clock.hpp"

namespace billcore::detail {

// The leased engine, and the pages in flight on it.
struct BlockingSource::Leased {
  Leased(const SessionPtr& session, const ListOperation& list, const CallOptions& options, const Wanted& wanted,
         const Deadline& until)
      : lease(session->lease(list.page(wanted.page), session->settings().options.concurrency, until, options)),
        fetcher(session, *lease, list, options) {}

  EnginePool::Lease lease;
  PageFetcher fetcher;
  std::int64_t tended = coarse_milliseconds();
  std::int64_t asked = tended - 1;  // earlier than now, so that no call is skipped after the first tend()
  unsigned to_skip = 0;
};

BlockingSource::BlockingSource(SessionPtr session, ListOperation list, CallOptions options)
    : session_(std::move(session)), list_(std::move(list)), options_(std::move(options)) {}

BlockingSource::~BlockingSource() { stop(); }

PageFetcher& BlockingSource::fetcher(const Wanted& wanted, const Deadline& until) {
  session_->require_open();
  leave_behind();
  if (leased_ == nullptr) leased_ = std::make_unique<Leased>(session_, list_, options_, wanted, until);
  return leased_->fetcher;
}

// Whether the list may have pages in flight while it is not read: see EnginePool.
bool BlockingSource::may_keep_engine() const { return session_->settings().state->pool.has_spare(); }

std::shared_ptr<const Document> BlockingSource::fetch(const Wanted& wanted) {
  auto& pages = fetcher(wanted, earlier(session_->deadline(options_), wanted.until));
  if (wanted.anew) pages.clear();
  bool whole = false;
  try {
    if (!options_.cancel.stop_requested()) {
      pages.request(wanted.page, wanted.last, may_keep_engine() ? wanted.count : 1);
      pages.expect(wanted.page, wanted.until, nullptr);
      whole = (*leased_->lease)
                  .drive([&] { return pages.has(wanted.page); }, session_->interrupt_of(options_), options_.cancel);
    }
  } catch (...) {
    pages.cancel();
    throw;
  }
  if (!whole) {
    pages.cancel();
    const auto operation = list_.page(wanted.page);
    throw interruption_error({operation.method, operation.path, *session_->settings().answers, 1, operation.page}, {});
  }
  auto document = pages.take(wanted.page);
  if (pages.empty() || !may_keep_engine()) stop();  // return the engine to the pool
  return document;
}

void BlockingSource::ahead(const Wanted& wanted) {
  auto& pages = fetcher(wanted, SteadyClock::now());
  if (!may_keep_engine()) return stop();
  if (wanted.anew) pages.clear();
  pages.request(wanted.page, wanted.last, wanted.count);
  move_on();  // send the requests now, not only when fetch() waits for a page
}

// In a forked child, abandons the parent's engine and pages without touching them; does nothing in the parent.
void BlockingSource::leave_behind() noexcept {
  if (leased_ != nullptr && !leased_->lease.is_ours()) static_cast<void>(leased_.release());
}

void BlockingSource::move_on() {
  leased_->tended = coarse_milliseconds();
  leased_->fetcher.notice_pause();
  static_cast<void>((*leased_->lease).drive([] { return true; }, nullptr));
}

void BlockingSource::tend() noexcept try {
  // A reader calls tend() for each item. A fast reader takes an item every 50 ns; reading the clock each time would
  // cost more than processing the items. To save time, the next 8 calls of tend() do nothing if the clock has not
  // advanced since tend() last read it. If the clock has advanced, no call of tend() is skipped, because a slow reader
  // may pause after any item.
  if (leased_ == nullptr || leased_->to_skip-- > 0) return;
  const auto now = coarse_milliseconds();
  leased_->to_skip = now == std::exchange(leased_->asked, now) ? 8 : 0;
  if (now == leased_->tended || !leased_->lease.is_ours()) return;
  move_on();
} catch (...) {
  // Ignore the exception: fetch() reports the error when the reader needs the page.
}

void BlockingSource::stop() noexcept {
  leave_behind();
  leased_.reset();
}

}  // namespace billcore::detail
