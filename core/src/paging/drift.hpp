// Whether a list moves while it is read, repeats itself, or gives another number of records than it counts. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "paging/recent_ids.hpp"

namespace billcore::detail {

/// How a list moved between two pages.
enum class Move : std::uint8_t { none, grown, other };

/// Hashes of the ids of a page; 0: an item without an id.
using Ids = std::vector<std::uint64_t>;

/// Threads: one at a time.
class Drift {
 public:
  /// window: how many of the last pages count when an id comes again; 0: all. counts: are the records counted, to be compared
  /// with `total`?
  Drift(std::size_t window, bool counts);

  /// Goes on where another process stopped. seen: of the page read next, so many ids were yielded there; -1: not known.
  void resume(const Ids& yielded, std::optional<std::int64_t> seen);
  void resume(std::string_view noticed, std::optional<std::int64_t> total,
              std::optional<std::int64_t> counted) noexcept;

  /// The first sign counts; empty: none.
  void notice(std::string_view reason) noexcept {
    if (noticed_.empty()) noticed_ = reason;
  }
  [[nodiscard]] std::string_view noticed() const noexcept { return noticed_; }
  [[nodiscard]] std::optional<std::int64_t> total() const noexcept { return total_; }
  [[nodiscard]] std::optional<std::int64_t> counted() const noexcept { return counted_; }

  /// Room for the ids of a page: the functions below allocate nothing for it then.
  void reserve(std::size_t count);
  /// Did the list move since the page before was read? again: the page comes in a second reading, where all is known.
  [[nodiscard]] Move move_before(const Ids& ids, std::optional<std::int64_t> total, bool shrunk, bool again) noexcept;
  void set_total(std::optional<std::int64_t> total) noexcept;
  /// Compares a page with the one before. Error(pagination) when the list goes on repeating itself. news_expected: may a
  /// page without new ids be a sign of that?
  void compare(const Ids& ids, bool news_expected);
  /// The items of a page follow; a new page moves the window on. What is read again does not, or a list could repeat itself
  /// outside it.
  void begin_page(bool of_new_page) noexcept { known_.begin_reading(of_new_page); }
  /// Was it seen before? It is remembered either way.
  [[nodiscard]] RecentIds::Seen see(std::uint64_t id) {
    const auto seen = known_.add(id);
    if (seen == RecentIds::Seen::in_this_reading) notice("overlap");
    return seen;
  }
  void count_record() noexcept {
    if (counted_) ++*counted_;
  }

  /// At the end of a reading from page 1: did as many records come as `total` says?
  void compare_count() noexcept;
  /// A second reading begins, which decides.
  void begin_again() noexcept;

 private:
  [[nodiscard]] bool overlaps(const Ids& ids) noexcept;

  RecentIds known_;
  Ids previous_;                         // of everything on the page read last
  std::optional<std::int64_t> resumed_;  // see resume()
  std::optional<std::int64_t> total_;
  std::optional<std::int64_t> counted_;  // records of this reading; nothing where it did not begin at page 1
  std::string_view noticed_;
  int same_pages_ = 1;
  int pages_without_news_ = 0;
};

}  // namespace billcore::detail
