// Detects that a list changes while it is read, repeats itself, or has a number of records other than `total`.
// Internal.
//
// Without a readable `total`, a deleted record moves others across the border between two pages unnoticed, so one
// reading of several pages proves nothing. Two equal readings do; see PageOrder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "paging/recent_ids.hpp"

namespace billcore::detail {

/// How a list changed between two pages.
enum class Move : std::uint8_t { none, grown, other };

/// Hashes of ids, in the order of the list; 0 for a record that cannot be recognised: it has no id, or was forgotten.
using Ids = std::vector<std::uint64_t>;

/// A digest of the records of one reading, in order. If two readings from page 1 on are equal and no record occurs
/// twice, no record was missed, even without a `total`: all records of the first reading still existed when the second
/// one began, and only the deletion of a read record moves an unread one to an earlier page. Assumes that new records
/// appear at the head, and that the second reading fetches page by page.
struct PageOrder {
  std::uint64_t digest = 0;
  bool distinct = true;  // every record has an id, and no id occurs twice

  void add(std::int64_t page, const Ids& ids, std::size_t new_ids) noexcept;
};

/// Threads: one at a time.
class Drift {
 public:
  /// A repeated id is recognised within `window` pages before the current one; 0 means within all pages. `counts` says
  /// whether to count the records, to compare their number with `total`.
  Drift(std::size_t window, bool counts);

  /// Resumes a list where another process stopped. `seen` is the number of ids of the next page that were already
  /// yielded, -1 if unknown, nullopt if no page was read.
  void resume(const Ids& yielded, std::optional<std::int64_t> seen, std::string_view noticed,
              std::optional<std::int64_t> total, std::optional<std::int64_t> counted);

  /// Sets the reason why a record may have been missed; only the first reason is kept. noticed() is empty without a
  /// reason.
  void notice(std::string_view reason) noexcept {
    if (noticed_.empty()) noticed_ = reason;
  }
  /// Sets the reason "may_repeat" instead of any other, since the caller must know that records may have been yielded
  /// twice.
  void notice_repeats() noexcept { noticed_ = "may_repeat"; }
  [[nodiscard]] std::string_view noticed() const noexcept { return noticed_; }
  [[nodiscard]] std::optional<std::int64_t> total() const noexcept { return total_; }
  [[nodiscard]] std::optional<std::int64_t> counted() const noexcept { return counted_; }

  /// Reserves memory for the ids of a page, so that move_before(), compare() and see() do not allocate. For `ahead` see
  /// RecentIds::reserve().
  void reserve(std::size_t count, std::size_t ahead);
  /// How the list changed since the previous page was read. `again` says that this is the second reading, where all ids
  /// are known. `shifted` is the number of ids that are known because the list has grown earlier.
  [[nodiscard]] Move move_before(const Ids& ids, std::optional<std::int64_t> total, bool shrunk, bool again,
                                 std::int64_t shifted = 0) noexcept;
  void set_total(std::optional<std::int64_t> total) noexcept;
  /// Whether any page of this reading had no readable `total`.
  [[nodiscard]] bool lacks_total() const noexcept { return lacks_total_; }
  /// Compares a page with the previous one. Error(pagination) if the list keeps repeating itself. news_expected:
  /// whether a page without new ids counts as a repetition.
  void compare(const Ids& ids, bool news_expected);
  /// Begins the items of a page. Only a new page advances the window; otherwise a list could repeat itself outside of
  /// the window.
  void begin_page(bool of_new_page) noexcept { known_.begin_reading(of_new_page); }
  /// Records an id; returns whether it was seen before.
  [[nodiscard]] RecentIds::Seen see(std::uint64_t id) {
    const auto seen = known_.add(id);
    if (seen == RecentIds::Seen::never) {
      news_ = true;
    } else if (seen == RecentIds::Seen::in_this_reading) {
      notice("overlap");
    } else if (seen == RecentIds::Seen::remembered && news_ && forgetful_) {
      // The page has unknown ids before a remembered one, so their records were probably yielded before the resume and
      // forgotten.
      notice_repeats();
    }
    return seen;
  }
  [[nodiscard]] bool knows(std::uint64_t id) const noexcept { return known_.find(id) != RecentIds::Seen::never; }
  void count_record() noexcept {
    if (counted_) ++*counted_;
  }

  /// At the end of a reading from page 1: compares the number of records with `total`.
  void compare_count() noexcept;
  /// Starts the second reading, which decides the verdict.
  void begin_again() noexcept;

 private:
  [[nodiscard]] bool overlaps(const Ids& ids, std::int64_t shifted) noexcept;

  RecentIds known_;
  Ids previous_;                         // all ids of the page read last
  std::optional<std::int64_t> resumed_;  // see resume()
  std::optional<std::int64_t> total_;
  std::optional<std::int64_t> counted_;  // records of this reading; nullopt if it did not start at page 1
  std::string_view noticed_;
  bool lacks_total_ = false;
  bool forgetful_ = false;  // after a resume: records were yielded that are not remembered
  bool news_ = false;       // new records were found
  int same_pages_ = 1;
  int pages_without_news_ = 0;
};

}  // namespace billcore::detail
