#include "paging/page_plan.hpp"

#include <algorithm>
#include <utility>

namespace billcore::detail {

PagePlan::PagePlan(std::int64_t first_page, std::int64_t concurrency) noexcept
    : first_page_(first_page),
      concurrency_(std::max<std::int64_t>(concurrency, 1)),
      next_(first_page),
      at_once_(concurrency_) {}

std::optional<Wanted> PagePlan::wanted(bool may_prefetch) const noexcept {
  if (ended_) return std::nullopt;
  if (const auto more = ahead(may_prefetch)) return more;
  return Wanted{due(), due(), 1, anew_};
}

std::optional<Wanted> PagePlan::ahead(bool may_prefetch) const noexcept {
  if (!may_prefetch || at_once_ <= 1 || ended_ || is_rereading()) return std::nullopt;
  return Wanted{next_, last_, at_once_, anew_};
}

void PagePlan::announced(const Wanted& pages) noexcept {
  announced_ = std::min(pages.last, pages.page > pages.last - pages.count ? pages.last : pages.page + pages.count - 1);
}

bool PagePlan::must_read_again(Move move, std::int64_t number) noexcept {
  if (move == Move::none || mended_ == number) return false;
  if (move == Move::grown) {
    // New records are added at the head and move other records to later pages, so a page that was requested after the
    // change misses no record.
    if (number > announced_) return false;
    mended_ = number;
  } else {
    // Records may have moved from this page to the previous page, so read the previous page again.
    if (number == 1) return false;
    border_ = number;
  }
  anew_ = true;
  announced_ = 0;
  at_once_ = 1;  // while the list changes, request one page at a time
  return true;
}

void PagePlan::speed_up() noexcept { at_once_ = std::min(at_once_ * 2, concurrency_); }

bool PagePlan::take(std::int64_t number) noexcept {
  const bool is_new = number > highest_;
  highest_ = std::max(highest_, number);
  return is_new;
}

bool PagePlan::go_on() noexcept {
  anew_ = false;
  if (border_ > 0) {
    mended_ = std::exchange(border_, 0);
    if (mended_ <= last_) return true;  // next, read page `mended_` again
    next_ = mended_;                    // the list now ends before page `mended_`, so the pass is over
  }
  if (next_ >= last_) return false;
  ++next_;
  return true;
}

void PagePlan::begin_again() noexcept {
  next_ = first_page_;
  mended_ = 0;
  anew_ = true;
}

}  // namespace billcore::detail
