// Decides which page of a list to request next and which to prefetch. Internal.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "paging/drift.hpp"

namespace billcore::detail {

/// The page to request now, and the following pages that may be requested together with it: at most `count` pages, none
/// of them after `last`.
struct Wanted {
  std::int64_t page = 1;
  std::int64_t last = 1;
  std::int64_t count = 1;
  bool anew = false;    // the prefetched pages are outdated: request them again
  Deadline until = {};  // of the whole list
};

/// Plans which pages of a list are requested, and in which order. If a change of the list may have moved records to the
/// previous page, that page is read again. After a change, prefetched pages are requested again, one at a time until
/// the list is stable. Threads: one at a time.
class PagePlan {
 public:
  PagePlan(std::int64_t first_page, std::int64_t concurrency) noexcept;

  [[nodiscard]] std::int64_t first_page() const noexcept { return first_page_; }
  void resume_at(std::int64_t page) noexcept { next_ = page; }

  /// The page to read next: the next page in order, or the previous page if that page must be read again.
  [[nodiscard]] std::int64_t due() const noexcept { return border_ > 0 ? border_ - 1 : next_; }
  /// Whether due() returns a page that was read before and must be read again, because records may have moved to it.
  [[nodiscard]] bool is_rereading() const noexcept { return border_ > 0; }
  [[nodiscard]] bool has_ended() const noexcept { return ended_; }

  /// The pages to request; nullopt after the last page. `may_prefetch` says whether pages other than due() may be
  /// requested.
  [[nodiscard]] std::optional<Wanted> wanted(bool may_prefetch) const noexcept;
  [[nodiscard]] std::optional<Wanted> ahead(bool may_prefetch) const noexcept;
  /// Call fetching() when the wanted page is requested, and announced() when pages are prefetched.
  void fetching() noexcept { anew_ = false; }
  void announced(const Wanted& pages) noexcept;
  [[nodiscard]] bool has_announced() const noexcept { return announced_ > 0; }

  /// Records that a page has arrived; `last` is the page's total_pages.
  void came(std::int64_t last) noexcept { last_ = last; }
  /// Returns true if a page must not be taken yet, because the page was requested before the list changed, or because
  /// records may have moved from this page to the previous page.
  [[nodiscard]] bool must_read_again(Move move, std::int64_t number) noexcept;
  /// Allows more pages in flight. Call speed_up() when the list has not changed since the previous page.
  void speed_up() noexcept;
  /// Records that a page is taken; returns true if no page with this or a higher number was taken before.
  [[nodiscard]] bool take(std::int64_t number) noexcept;
  /// Advances past the page that was just taken; returns false at the end of the pass.
  [[nodiscard]] bool go_on() noexcept;
  void begin_again() noexcept;
  void end() noexcept { ended_ = true; }

 private:
  std::int64_t first_page_;
  std::int64_t concurrency_;
  std::int64_t next_;
  std::int64_t last_ = 0;       // total_pages of the page read last
  std::int64_t highest_ = 0;    // highest page taken so far
  std::int64_t border_ = 0;     // page from which records may have moved to the previous page; 0: none
  std::int64_t mended_ = 0;     // page that may now be taken, because it or the previous page was requested again
  std::int64_t at_once_;        // number of pages to request; fewer while the list changes
  std::int64_t announced_ = 0;  // highest page that was prefetched
  bool anew_ = false;           // the prefetched pages are outdated: request them again
  bool ended_ = false;          // the last page has been read
};

}  // namespace billcore::detail
