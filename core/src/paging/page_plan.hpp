// Which page of a list to ask for next, and which may be asked for ahead of their time. It knows nothing of what is on them.
// Internal.
#pragma once

#include <cstdint>
#include <optional>

#include "paging/drift.hpp"

namespace billcore::detail {

/// The page to ask for now, and those that may be asked for with it: up to `last`, `count` in all.
struct Wanted {
  std::int64_t page = 1;
  std::int64_t last = 1;
  std::int64_t count = 1;
  bool anew = false;  // what was fetched ahead of its time is out of date
};

/// Pages are read in order. When the list has moved, the page before the border is read once more, and pages that were asked
/// for too early are asked for anew, one after the other until the list stands still again. Threads: one at a time.
class PagePlan {
 public:
  PagePlan(std::int64_t first_page, std::int64_t concurrency) noexcept;

  [[nodiscard]] std::int64_t first_page() const noexcept { return first_page_; }
  void resume_at(std::int64_t page) noexcept { next_ = page; }

  /// The page to read next: in order, or the one before a border that moved.
  [[nodiscard]] std::int64_t due() const noexcept { return border_ > 0 ? border_ - 1 : next_; }
  /// Is the page before a border read again?
  [[nodiscard]] bool is_rereading() const noexcept { return border_ > 0; }
  [[nodiscard]] bool has_ended() const noexcept { return ended_; }

  /// Nothing behind the last page. may_prefetch: is anything but the page that is due to be asked for?
  [[nodiscard]] std::optional<Wanted> wanted(bool may_prefetch) const noexcept;
  [[nodiscard]] std::optional<Wanted> ahead(bool may_prefetch) const noexcept;
  /// What was wanted, and what may be wanted soon, is being asked for.
  void fetching() noexcept { anew_ = false; }
  void announced(const Wanted& pages) noexcept;
  [[nodiscard]] bool has_announced() const noexcept { return announced_ > 0; }

  /// A page has come, which says how many there are.
  void came(std::int64_t last) noexcept { last_ = last; }
  /// A page that was read too early, or that something moved past, is not taken. True when others are to be read first.
  [[nodiscard]] bool must_read_again(Move move, std::int64_t number) noexcept;
  /// The list stands still: more pages may be asked for at once.
  void speed_up() noexcept;
  /// Takes a page; true when none of this number or a higher one was taken before.
  [[nodiscard]] bool take(std::int64_t number) noexcept;
  /// Goes on behind the page that was taken; false at the end of the reading.
  [[nodiscard]] bool go_on() noexcept;
  void begin_again() noexcept;
  void end() noexcept { ended_ = true; }

 private:
  std::int64_t first_page_;
  std::int64_t concurrency_;
  std::int64_t next_;
  std::int64_t last_ = 0;       // total_pages of the page read last
  std::int64_t highest_ = 0;    // page taken so far
  std::int64_t border_ = 0;     // page that the list moved before, and the one before it is read again; 0: none
  std::int64_t mended_ = 0;     // a page whose border has been read again
  std::int64_t at_once_;        // how many pages are asked for: fewer while the list moves
  std::int64_t announced_ = 0;  // the last page that was asked for ahead of its time
  bool anew_ = false;           // what was asked for ahead of its time is out of date
  bool ended_ = false;          // the last page has been read
};

}  // namespace billcore::detail
