#include "paging/drift.hpp"

#include <algorithm>
#include <utility>

#include "billcore/error.hpp"
#include "paging/recent_ids.hpp"

namespace billcore::detail {
namespace {

constexpr int max_same_pages = 3;
constexpr int max_pages_without_news = 18;

}  // namespace

void PageOrder::add(std::int64_t page, const Ids& ids, std::size_t new_ids) noexcept {
  digest = number_hash(digest ^ static_cast<std::uint64_t>(page));
  for (const auto id : ids) digest = number_hash(digest ^ id);
  distinct = distinct && new_ids == ids.size() && std::find(ids.begin(), ids.end(), 0U) == ids.end();
}

Drift::Drift(std::size_t window, bool counts)
    : known_(window == 0 ? 0 : window + 1), counted_(counts ? std::optional<std::int64_t>(0) : std::nullopt) {}

void Drift::resume(const Ids& yielded, std::optional<std::int64_t> seen, std::string_view noticed,
                   std::optional<std::int64_t> total, std::optional<std::int64_t> counted) {
  known_.remember(yielded);
  forgetful_ = std::find(yielded.begin(), yielded.end(), 0U) != yielded.end();
  resumed_ = seen;
  noticed_ = noticed;
  only_grew_ = false;
  total_ = total;
  lacks_total_ = seen && !total;
  counted_ = counted;
}

void Drift::reserve(std::size_t count, std::size_t ahead) {
  previous_.reserve(count);
  known_.reserve(count, ahead);
}

// Whether the page contains an unexpected number of ids that were received before. The first page after a resume must
// contain as many of them as the state says; any other page must contain none, or `shifted` of them.
bool Drift::overlaps(const Ids& ids, std::int64_t shifted) noexcept {
  if (ids == previous_) return false;
  const auto known = std::count_if(ids.begin(), ids.end(), [this](std::uint64_t id) { return id != 0 && knows(id); });
  if (const auto seen = std::exchange(resumed_, std::nullopt)) return *seen >= 0 && known != *seen;
  return known > 0 && known != shifted;
}

Move Drift::move_before(const Ids& ids, std::optional<std::int64_t> total, bool shrunk, bool again,
                        std::int64_t shifted) noexcept {
  const bool changed = total && total_ && *total != *total_;
  const bool overlap = !again && overlaps(ids, shifted);
  if (shrunk) notice("list_shrank");
  const bool grown = changed && *total > *total_;
  if (changed) grown ? keep_reason("total_changed") : notice("total_changed");
  if (overlap) notice("overlap");
  if (grown) return Move::grown;
  return shrunk || changed || overlap ? Move::other : Move::none;
}

void Drift::set_total(std::optional<std::int64_t> total) noexcept {
  if (total) total_ = total;
  if (!first_total_) first_total_ = total;
  lacks_total_ = lacks_total_ || !total;
}

void Drift::compare(const Ids& ids, bool news_expected) {
  const bool all_have_ids = std::find(ids.begin(), ids.end(), 0U) == ids.end();
  if (all_have_ids && !ids.empty()) {
    same_pages_ = ids == previous_ ? same_pages_ + 1 : 1;
    if (same_pages_ > 1) notice("repeated_page");
    // Records yielded before a resume count as new, because a list that has grown may return all of these records
    // again, once.
    const bool any_new = std::any_of(ids.begin(), ids.end(), [this](std::uint64_t id) {
      const auto seen = known_.find(id);
      return seen == RecentIds::Seen::never || seen == RecentIds::Seen::remembered;
    });
    pages_without_news_ = any_new || !news_expected ? 0 : pages_without_news_ + 1;
    if (same_pages_ >= max_same_pages || pages_without_news_ >= max_pages_without_news) {
      throw Error(ErrorCode::pagination,
                  "the list repeats itself: the same records were returned again; the service does not honour `page`");
    }
  }
  previous_.clear();
  if (all_have_ids) previous_.assign(ids.begin(), ids.end());
}

void Drift::compare_count() noexcept {
  if (counted_ && total_ && *counted_ != *total_) keep_reason("total_differs");
}

void Drift::begin_again() noexcept {
  noticed_ = {};
  if (counted_) counted_ = 0;
  total_.reset();
  lacks_total_ = false;
  previous_.clear();
  same_pages_ = 1;
}

}  // namespace billcore::detail
