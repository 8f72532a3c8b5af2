// Whether a list that has ended is complete. drift.cpp notes the reasons why it may not be, while pages arrive.
#include <optional>
#include <utility>

#include "paging/pager_core.hpp"

namespace billcore::detail {

// Whether two passes from page 1 had equal results, and no record occurred twice. Passes that begin at a later page do
// not prove that no record was missed, because changes on earlier pages are unknown.
bool PagerCore::read_the_same_twice() const noexcept {
  return plan_.first_page() == 1 && first_reading_.order.distinct && first_reading_.order.digest == order_.digest;
}

void PagerCore::end_reading() noexcept {
  drift_.compare_count();
  const bool unproved = drift_.lacks_total() && plan_.due() > plan_.first_page();
  if (second_ && unproved && !read_the_same_twice()) drift_.notice("no_total");
  if (!strict_ || second_) return plan_.end();
  second_ = true;
  first_reading_.pages = plan_.due();
  first_reading_.fetched = fetched_;
  first_reading_.noticed = drift_.noticed();
  first_reading_.total = drift_.total();
  first_reading_.counted = drift_.counted();
  first_reading_.ids.assign(passed_.begin(), passed_.end());
  first_reading_.ids.insert(first_reading_.ids.end(), page_ids_.begin(), page_ids_.end());
  first_reading_.order = std::exchange(order_, {});
  plan_.begin_again();
  drift_.begin_again();
}

std::optional<Verdict> PagerCore::verdict() const noexcept {
  if (!plan_.has_ended() || buffered()) {
    return stopped_ ? std::optional(Verdict{false, "stopped"}) : std::nullopt;
  }
  return Verdict{drift_.noticed().empty(), drift_.noticed()};
}

}  // namespace billcore::detail
