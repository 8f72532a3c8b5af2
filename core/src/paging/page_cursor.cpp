#include "paging/page_cursor.hpp"

#include <algorithm>

namespace billcore::detail {

void PageCursor::open(PageData page, std::int64_t number) noexcept {
  page_.emplace(std::move(page));
  number_ = number;
  position_ = 0;
  odd_ = false;
  ids_.clear();
  known_ = 0;
}

std::int64_t PageCursor::given_ids() const noexcept {
  const auto taken = taken_ids();
  return known_ + static_cast<std::int64_t>(taken.size()) - std::count(taken.begin(), taken.end(), 0U);
}

std::optional<Value> PageCursor::drop_odd() {
  for (auto at = position_; odd_ && at < page_->items.size(); ++at) {
    Value item(page_->document, page_->items[at]);
    if (item.is_object()) continue;
    page_->items.erase(page_->items.begin() + static_cast<std::ptrdiff_t>(at));
    ids_.erase(ids_.begin() + static_cast<std::ptrdiff_t>(at));
    return item;
  }
  return std::nullopt;
}

PageData PageCursor::rest() const {
  PageData out{page_->document, {}, page_->pagination};
  out.items.assign(page_->items.begin() + static_cast<std::ptrdiff_t>(position_), page_->items.end());
  return out;
}

}  // namespace billcore::detail
