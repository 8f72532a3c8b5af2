// Detects that a list changes while it is read, repeats itself, or has another number of records than `total`.
// Internal.
//
// Without a readable `total` a deleted record moves others across the border between two pages unnoticed, so such a
// reading of more than one page proves nothing. Two readings that give the same do; see PageOrder.
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

/// Hashes of ids, in the order of the list; 0: records that cannot be recognised, without an id or forgotten.
using Ids = std::vector<std::uint64_t>;

/// What one reading of a list gave, in order, as a digest. If two readings from page 1 on agree and no record was given
/// twice, none was missed, also without a `total`: all records of the first reading were still there when the second one
/// began, and only the deletion of one that was read moves an unread one to an earlier page. Assumes that new records
/// appear at the head, and that the second reading goes page by page.
struct PageOrder {
  std::uint64_t digest = 0;
  bool distinct = true;  // each record has an id that occurs once

  void add(std::int64_t page, const Ids& ids, std::size_t new_ids) noexcept;
};

/// Threads: one at a time.
class Drift {
 public:
  /// window: number of pages before the current one in which a repeated id is recognised; 0: all. counts: count the
  /// records, to compare them with `total`?
  Drift(std::size_t window, bool counts);

  /// Resumes where another process stopped. seen: number of ids of the next page that were already yielded; -1:
  /// unknown; nullopt: no page was read.
  void resume(const Ids& yielded, std::optional<std::int64_t> seen, std::string_view noticed,
              std::optional<std::int64_t> total, std::optional<std::int64_t> counted);

  /// Records why a record may have been missed. Only the first reason is kept; noticed() is empty without one.
  void notice(std::string_view reason) noexcept {
    if (noticed_.empty()) noticed_ = reason;
  }
  /// Records that records may have been yielded twice, which the reader must know whatever else happened.
  void notice_repeats() noexcept { noticed_ = "may_repeat"; }
  [[nodiscard]] std::string_view noticed() const noexcept { return noticed_; }
  [[nodiscard]] std::optional<std::int64_t> total() const noexcept { return total_; }
  [[nodiscard]] std::optional<std::int64_t> counted() const noexcept { return counted_; }

  /// Reserves memory for the ids of a page, so that the functions below allocate nothing for it. ahead: see RecentIds.
  void reserve(std::size_t count, std::size_t ahead);
  /// Has the list changed since the previous page was read? again: this is the second reading, where all ids are known.
  /// shifted: number of ids that are known since the list has grown earlier.
  [[nodiscard]] Move move_before(const Ids& ids, std::optional<std::int64_t> total, bool shrunk, bool again,
                                 std::int64_t shifted = 0) noexcept;
  void set_total(std::optional<std::int64_t> total) noexcept;
  /// Had any page of this reading no readable `total`?
  [[nodiscard]] bool lacks_total() const noexcept { return lacks_total_; }
  /// Compares a page with the previous one. Error(pagination) if the list keeps repeating itself. news_expected: may a
  /// page without new ids count as a repetition?
  void compare(const Ids& ids, bool news_expected);
  /// Starts the items of a page. Only a new page advances the window; otherwise a list could repeat itself outside of
  /// it.
  void begin_page(bool of_new_page) noexcept { known_.begin_reading(of_new_page); }
  /// Was this id seen before? Also records it.
  [[nodiscard]] RecentIds::Seen see(std::uint64_t id) {
    const auto seen = known_.add(id);
    if (seen == RecentIds::Seen::never) {
      news_ = true;
    } else if (seen == RecentIds::Seen::in_this_reading) {
      notice("overlap");
    } else if (seen == RecentIds::Seen::remembered && news_ && forgetful_) {
      // Older than what is remembered, so the new ones before it were probably yielded before the resume.
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
  bool forgetful_ = false;  // after a resume: were records yielded that are not remembered?
  bool news_ = false;       // were new records found?
  int same_pages_ = 1;
  int pages_without_news_ = 0;
};

}  // namespace billcore::detail
