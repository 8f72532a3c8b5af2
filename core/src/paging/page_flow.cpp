#include "paging/page_flow.hpp"

#include <utility>

#include "billcore/error.hpp"
#include "call/session.hpp"

namespace billcore::detail {

PageFlow::PageFlow(const PagerOptions& options, std::unique_ptr<PageSource> source)
    : core_(options), own_(std::move(source)), source_(own_.get()), total_timeout_(options.total_timeout) {
  if (total_timeout_) static_cast<void>(deadline_after(*total_timeout_, "total_timeout"));
}

Step PageFlow::advance() {
  auto wanted = core_.wanted();
  if (!wanted) return Step::ended;
  if (total_timeout_ && !until_) until_ = deadline_after(*total_timeout_, "total_timeout");
  if (until_ && SteadyClock::now() >= *until_) throw core_.late(wanted->page, {});
  wanted->until = until_;
  core_.fetching();
  const auto document = fetch(*wanted);
  if (document == nullptr) return Step::pending;
  core_.accept(document);
  if (core_.has_page()) announce();
  return Step::taken;
}

// A page whose time-out was cut by that of the list must not advise the caller to raise the time-out of a page.
std::shared_ptr<const Document> PageFlow::fetch(const Wanted& wanted) try {
  return source_->fetch(wanted);
} catch (const Error& error) {
  if (error.code() != ErrorCode::timeout || !until_ || SteadyClock::now() < *until_) throw;
  throw core_.late(wanted.page, error.detail());
}

// Returns whether a page has been read.
bool PageFlow::advance_blocking() {
  if (core_.wanted() && !source_->blocks()) {
    throw Error(
        ErrorCode::invalid_argument,
        "the next page is not here, and a list that is read on a loop does not wait: fetch the page on the loop");
  }
  return advance() == Step::taken;
}

void PageFlow::announce() noexcept try {
  const auto next = core_.ahead();
  if (!next || source_ == nullptr || next->page > next->last) return;
  source_->ahead(*next);
  core_.announced(*next);
} catch (...) {
  // Ignore the exception: advance() reports the error when the reader needs the page.
}

std::optional<Value> PageFlow::take_item() {
  if (core_.taken() == 1) announce();
  if (core_.has_announced() && source_ != nullptr) source_->tend();
  return core_.take_item();
}

std::optional<Value> PageFlow::next_item() {
  while (!core_.buffered() && advance_blocking()) {
  }
  return take_item();
}

std::optional<PageData> PageFlow::next_page() {
  while (!core_.buffered()) {
    if (!advance_blocking()) return std::nullopt;
    if (core_.has_page()) break;
  }
  return take_page();
}

std::optional<PageData> PageFlow::peek_page() {
  while (!core_.buffered()) {
    if (!advance_blocking()) return std::nullopt;
  }
  return core_.rest_of_page();
}

std::optional<Value> PageFlow::first_item() {
  while (core_.fetched_pages() == 0 || (!core_.knows_first() && !core_.has_ended())) advance_blocking();
  return core_.known_first();
}

void PageFlow::stop() noexcept {
  core_.stop();
  if (source_ != nullptr) source_->stop();
}

}  // namespace billcore::detail
