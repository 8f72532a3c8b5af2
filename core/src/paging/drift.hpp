// Detects that a list changes while it is read, that it repeats itself, or that its number of records differs from
// `total`. Internal.
//
// Without a readable `total`, the deletion of a record can go unnoticed. A deletion moves later records to earlier
// pages, so a single pass over several pages may miss a record. Two passes with equal results prove that no record was
// missed; see PageOrder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "paging/recent_ids.hpp"

namespace billcore::detail {

/// How a list changed between the requests for two pages.
enum class Move : std::uint8_t { none, grown, other };

/// Hashes of ids, in the order of the list; 0 for a record that cannot be recognised, because it has no id or its id
/// was forgotten.
using Ids = std::vector<std::uint64_t>;

/// A digest of the records of one pass over the list, in order. If two passes from page 1 on have equal digests and no
/// record occurs twice, no record was missed, even without a `total`. A record is missed only if it moves to an earlier
/// page, after the deletion of a record that was already read. Equal digests show that no record of the first pass was
/// deleted before the second pass began, provided that new records appear at the head of the list and that the second
/// pass fetches one page at a time.
struct PageOrder {
  std::uint64_t digest = 0;
  bool distinct = true;  // every record has an id, and no id occurs twice

  void add(std::int64_t page, const Ids& ids, std::size_t new_ids) noexcept;
};

/// Threads: one at a time.
class Drift {
 public:
  /// A repeated id is recognised if it was seen on the last `window` pages; 0 means on any earlier page. `counts`
  /// says whether to count the records and compare their number with `total`.
  Drift(std::size_t window, bool counts);

  /// Resumes a list where another process stopped. `seen` is the number of ids of the next page that were already
  /// yielded; -1 if that number is unknown, nullopt if no page was read.
  void resume(const Ids& yielded, std::optional<std::int64_t> seen, std::string_view noticed,
              std::optional<std::int64_t> total, std::optional<std::int64_t> counted);

  /// Sets the reason why a record may have been missed, which is not that the list grew at its head; only the first
  /// reason is kept. noticed() is empty if there is no reason.
  void notice(std::string_view reason) noexcept {
    keep_reason(reason);
    only_grew_ = false;
  }
  /// Sets the reason "may_repeat", which replaces any other reason: the caller must know that records may have been
  /// yielded twice.
  void notice_repeats() noexcept {
    noticed_ = "may_repeat";
    only_grew_ = false;
  }
  [[nodiscard]] std::string_view noticed() const noexcept { return noticed_; }
  /// Whether the pages show no change except growth: no `total` is smaller than the one before it, each page repeats as
  /// many ids as the growth explains, and all records of the first `total` were counted. If new records appear only at
  /// the head, and none was deleted, then each record that was in the list at the first request was counted.
  [[nodiscard]] bool only_grew() const noexcept {
    return only_grew_ && counted_ && first_total_ && total_ && *counted_ >= *first_total_ && *counted_ <= *total_;
  }
  [[nodiscard]] std::optional<std::int64_t> total() const noexcept { return total_; }
  [[nodiscard]] std::optional<std::int64_t> counted() const noexcept { return counted_; }

  /// Reserves memory for the ids of a page, so that move_before(), compare() and see() do not allocate. For `ahead` see
  /// RecentIds::reserve().
  void reserve(std::size_t count, std::size_t ahead);
  /// How the list changed since the previous page was read. `again` says that this is the second pass, in which all ids
  /// are already known. `shifted` is the number of ids that the page is expected to repeat, because the list grew
  /// earlier.
  [[nodiscard]] Move move_before(const Ids& ids, std::optional<std::int64_t> total, bool shrunk, bool again,
                                 std::int64_t shifted = 0) noexcept;
  void set_total(std::optional<std::int64_t> total) noexcept;
  /// Whether any page of this pass had no readable `total`.
  [[nodiscard]] bool lacks_total() const noexcept { return lacks_total_; }
  /// Compares a page with the previous one. Throws Error(pagination) if the list keeps repeating itself.
  /// `news_expected` says whether a page without new ids counts as a repetition.
  void compare(const Ids& ids, bool news_expected);
  /// Call begin_page() before see() is called for the ids of a page. Only a page that was not read before advances the
  /// window; otherwise the ids of a list that repeats itself could leave the window.
  void begin_page(bool of_new_page) noexcept { known_.begin_reading(of_new_page); }
  /// Records an id; returns when the id was last seen.
  [[nodiscard]] RecentIds::Seen see(std::uint64_t id) {
    const auto seen = known_.add(id);
    if (seen == RecentIds::Seen::never) {
      news_ = true;
    } else if (seen == RecentIds::Seen::in_this_reading) {
      notice("overlap");
    } else if (seen == RecentIds::Seen::remembered && news_ && forgetful_) {
      // In the list, ids that are missing from the state precede an id that is in the state. The records with the
      // missing ids were probably yielded before the resume, and their ids were dropped from the state.
      notice_repeats();
    }
    return seen;
  }
  [[nodiscard]] bool knows(std::uint64_t id) const noexcept { return known_.find(id) != RecentIds::Seen::never; }
  void count_record() noexcept {
    if (counted_) ++*counted_;
  }

  /// At the end of a pass from page 1: compares the number of records with `total`.
  void compare_count() noexcept;
  /// Starts the second pass, which determines the verdict.
  void begin_again() noexcept;

 private:
  void keep_reason(std::string_view reason) noexcept {
    if (noticed_.empty()) noticed_ = reason;
  }
  [[nodiscard]] bool overlaps(const Ids& ids, std::int64_t shifted) noexcept;

  RecentIds known_;
  Ids previous_;                         // all ids of the page read last
  std::optional<std::int64_t> resumed_;  // see resume()
  std::optional<std::int64_t> first_total_;
  std::optional<std::int64_t> total_;
  std::optional<std::int64_t> counted_;  // number of records in this pass; nullopt if the pass did not start at page 1
  std::string_view noticed_;
  bool only_grew_ = true;
  bool lacks_total_ = false;
  bool forgetful_ = false;  // after a resume: the state lacks the ids of some yielded records
  bool news_ = false;       // new records were found
  int same_pages_ = 1;
  int pages_without_news_ = 0;
};

}  // namespace billcore::detail
