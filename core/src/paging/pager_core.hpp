// The rules of lists, independent of how a page is fetched: they decide which page is next, which of its items are new,
// and whether records may have been missed. Internal.
//
// wanted() says which page to request, accept() takes the page that arrived, and take_item() and take_page() return
// its items. Each of the following classes answers a question:
//
// - PagePlan: which page is requested next, and which pages are prefetched?
//
// - Drift and RecentIds: is an item new, and has the list changed?
//
// - PageCursor: which items of a page have been taken?
//
// - PagerState: where does a later process resume?
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "billcore/detail/document.hpp"
#include "billcore/detail/list.hpp"
#include "billcore/error.hpp"
#include "billcore/pager.hpp"
#include "paging/drift.hpp"
#include "paging/page_cursor.hpp"
#include "paging/page_plan.hpp"

namespace billcore::detail {

class PagerCore {
 public:
  /// Throws Error(invalid_argument) for a page below 1 and for an invalid state.
  explicit PagerCore(const PagerOptions& options);

  /// The page to request; nullopt after the last page.
  [[nodiscard]] std::optional<Wanted> wanted() const noexcept;
  /// Pages that may be prefetched.
  [[nodiscard]] std::optional<Wanted> ahead() const noexcept;
  /// Call fetching() when the wanted page is requested, and announced() when pages are prefetched.
  void fetching() noexcept { plan_.fetching(); }
  void announced(const Wanted& pages) noexcept { plan_.announced(pages); }
  [[nodiscard]] bool has_announced() const noexcept { return plan_.has_announced(); }
  [[nodiscard]] bool has_page() const noexcept { return cursor_.has_page(); }
  [[nodiscard]] std::int64_t taken() const noexcept { return taken_; }
  /// Reads `document`, the page whose number wanted() returned. Throws Error(pagination) if the page is refused;
  /// wanted() then returns the same page again.
  void accept(const std::shared_ptr<const Document>& document);
  [[nodiscard]] std::optional<Value> take_item();
  [[nodiscard]] std::optional<PageData> take_page();
  [[nodiscard]] PagerMark mark() const noexcept { return {fetched_, taken_, cursor_.position(), stopped_}; }
  void take_back(const PagerMark& before, const PagerMark& after) noexcept;
  /// rest_of_page() and skip_page() do the same as take_page() in two steps, for a caller whose work between the two
  /// steps may fail. rest_of_page() throws Error(decode) for an item that is not an object; the next call leaves that
  /// item out.
  [[nodiscard]] std::optional<PageData> rest_of_page();
  void skip_page() noexcept;
  /// Returns an error about an item of the current page, with the page's request added to the error's text, so that the
  /// caller can find the item. Requires has_page().
  [[nodiscard]] Error about_item(const Error& error) const {
    return about_page(cursor_.number(), *cursor_.page().document, error);
  }
  /// Like skip_page(), but only for the first `count` remaining items; `count` must not exceed left().
  void skip_items(std::size_t count) noexcept;
  [[nodiscard]] std::size_t left() const noexcept { return cursor_.left(); }
  /// The error of a page that did not arrive, because the total time-out of the list has passed. `detail` is that of its
  /// call, or empty if the page was not requested.
  [[nodiscard]] Error late(std::int64_t page, ErrorDetail detail) const;
  /// Size of the current page as JSON; requires has_page().
  [[nodiscard]] std::size_t page_bytes() const noexcept { return cursor_.page().document->text().size(); }

  /// The list's first item; nullopt if the list is empty or its first page has not been read.
  [[nodiscard]] std::optional<Value> known_first() const;
  [[nodiscard]] bool knows_first() const noexcept { return first_.has_value(); }
  [[nodiscard]] bool buffered() const noexcept { return cursor_.left() > 0; }
  [[nodiscard]] std::optional<std::int64_t> total() const noexcept {
    return drift_.total() ? drift_.total() : first_reading_.total;
  }
  [[nodiscard]] std::int64_t fetched_pages() const noexcept { return fetched_; }
  [[nodiscard]] std::optional<Verdict> verdict() const noexcept;
  /// Whether the list was read to its end, and only grew; see Drift::only_grew(). Always false for a strict list, whose
  /// second pass has a verdict of its own.
  [[nodiscard]] bool only_grew() const noexcept {
    return !strict_ && plan_.has_ended() && !buffered() && drift_.only_grew();
  }
  [[nodiscard]] std::string state() const;
  [[nodiscard]] bool has_ended() const noexcept { return plan_.has_ended(); }
  /// Sets the verdict to "stopped" until the caller continues to read.
  void stop() noexcept { stopped_ = true; }

 private:
  void read(const std::shared_ptr<const Document>& document);
  void reserve(const Ids& ids, PageData& page, std::int64_t pages_ahead);
  void look_for_repeats(const Ids& ids) noexcept;
  [[nodiscard]] bool has_forgotten() const noexcept;
  [[nodiscard]] std::int64_t shift(std::optional<std::int64_t> total) const noexcept;
  [[nodiscard]] std::size_t in_window(std::size_t page_size) const noexcept;
  void forget(Ids& ids, std::size_t times) const noexcept;
  void append_passed(Ids& out) const;
  void keep_new_items(const Node* data, const Ids& ids);
  void end_reading() noexcept;
  [[nodiscard]] bool read_the_same_twice() const noexcept;
  void resume(std::string_view state);
  [[nodiscard]] bool may_prefetch() const noexcept;
  [[nodiscard]] Value checked(Value item, std::int64_t number) const;
  [[nodiscard]] Error about_page(std::int64_t number, const Document& document, const Error& error) const;

  /// The results of a strict list's first pass, for state() and for the comparison with the second pass.
  struct FirstReading {
    std::int64_t pages = 0;
    std::int64_t fetched = 0;
    std::string_view noticed;
    std::optional<std::int64_t> total;
    std::optional<std::int64_t> counted;
    Ids ids;
    PageOrder order;
  };

  bool strict_;
  std::size_t window_;  // pages
  std::uint64_t list_;
  std::string path_;
  PagePlan plan_;
  Drift drift_;
  PageCursor cursor_;
  bool second_ = false;  // a strict list is in its second pass
  PageOrder order_;      // digest of the pass; used only for a strict list
  FirstReading first_reading_;
  bool stopped_ = false;
  std::int64_t fetched_ = 0;
  std::int64_t taken_ = 0;  // number of items and pages that were taken
  std::optional<Value> first_;
  Ids passed_;                         // ids that were yielded from previous pages; see forget()
  Ids page_ids_;                       // ids of the current page
  std::size_t page_size_ = 0;          // the largest page size so far
  std::size_t resumed_ids_ = 0;        // number of ids in the state that was resumed
  std::optional<std::int64_t> given_;  // `seen` of the resumed state, until the first page is read
  // Values as of the last page that was taken: the number of records that were read but appear again on later pages,
  // and the list's `total`.
  std::int64_t shift_ = 0;
  std::optional<std::int64_t> taken_total_;
};

}  // namespace billcore::detail
