// The logic of lists, apart from how a page is fetched: which page comes next, which of its items are new, and whether
// something may have been missed. Internal.
//
// In steps: wanted() says which page to ask for, accept() takes it, and the take functions give what is at hand. The others
// fetch by themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "billcore/detail/document.hpp"
#include "billcore/error.hpp"
#include "billcore/pager.hpp"
#include "paging/recent_ids.hpp"

namespace billcore::detail {

/// Where pages come from: documents with the array `data` and the object `pagination`.
class PageSource {
 public:
  PageSource() = default;
  virtual ~PageSource() = default;
  PageSource(const PageSource&) = delete;
  PageSource& operator=(const PageSource&) = delete;
  /// Waits for the page that is wanted.
  [[nodiscard]] virtual std::shared_ptr<const Document> fetch(const Wanted& wanted) = 0;
  /// These pages will be wanted; does not wait.
  virtual void ahead(const Wanted& wanted) = 0;
  /// The consumer comes by: moves on what is on its way, without waiting. Called for every item.
  virtual void tend() noexcept = 0;
  /// Nothing is wanted any more, for now.
  virtual void stop() noexcept = 0;
};

/// Where a pager's pages come from; it stays with the pager when the rest is copied.
class OwnSource {
 public:
  explicit OwnSource(std::unique_ptr<PageSource> source) noexcept : source_(std::move(source)) {}
  ~OwnSource() = default;
  OwnSource(const OwnSource& /*other*/) noexcept {}
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment, cert-oop54-cpp)
  OwnSource& operator=(const OwnSource& /*other*/) noexcept { return *this; }
  [[nodiscard]] PageSource* operator->() const noexcept { return source_.get(); }
  [[nodiscard]] bool operator==(std::nullptr_t) const noexcept { return source_ == nullptr; }

 private:
  std::unique_ptr<PageSource> source_;
};

/// A copy has no source.
class PagerCore {
 public:
  /// Error(invalid_argument) for a page below 1 and for a wrong state. Without a source, in steps only.
  PagerCore(std::unique_ptr<PageSource> source, const PagerOptions& options);

  /// Nothing behind the last page.
  [[nodiscard]] std::optional<Wanted> wanted() const noexcept;
  /// What may be asked for before it is wanted.
  [[nodiscard]] std::optional<Wanted> ahead() const noexcept;
  /// What was wanted, and what may be wanted soon, is being asked for.
  void fetching() noexcept { anew_ = false; }
  void announced(const Wanted& pages) noexcept;
  [[nodiscard]] bool has_page() const noexcept { return page_.has_value(); }
  [[nodiscard]] std::int64_t taken() const noexcept { return taken_; }
  /// Takes the page that wanted() named. Error(pagination) when it cannot be; it is wanted again then.
  void accept(const std::shared_ptr<const Document>& document);
  [[nodiscard]] std::optional<Value> take_item();
  [[nodiscard]] std::optional<PageData> take_page();
  [[nodiscard]] PagerMark mark() const noexcept { return {fetched_, taken_, position_, stopped_}; }
  void take_back(const PagerMark& before, const PagerMark& after) noexcept;
  /// take_page() in two steps, for what can fail in between. Error(decode) for an item that is no object; it is left out then.
  [[nodiscard]] std::optional<PageData> rest_of_page();
  void skip_page() noexcept;

  /// Fetches the next page; false at the end of the list.
  bool advance();
  [[nodiscard]] std::optional<Value> next_item();
  [[nodiscard]] std::optional<PageData> next_page();
  [[nodiscard]] std::optional<Value> first_item();
  [[nodiscard]] std::optional<Value> known_first() const;
  [[nodiscard]] bool knows_first() const noexcept { return first_.has_value(); }
  [[nodiscard]] bool buffered() const noexcept { return page_ && position_ < page_->items.size(); }
  [[nodiscard]] std::optional<std::int64_t> total() const noexcept { return total_; }
  [[nodiscard]] std::int64_t fetched_pages() const noexcept { return fetched_; }
  [[nodiscard]] std::optional<Verdict> verdict() const noexcept;
  [[nodiscard]] std::string state() const;
  void stop() noexcept;

 private:
  using Ids = std::vector<std::uint64_t>;  // hashes; 0: an item without an id

  // The page to read next: in order, or the one before a border that moved.
  [[nodiscard]] std::int64_t due() const noexcept { return border_ > 0 ? border_ - 1 : next_number_; }
  void read(const std::shared_ptr<const Document>& document);
  enum class Move { none, grown, other };
  [[nodiscard]] bool overlaps(const Ids& ids) noexcept;
  [[nodiscard]] Move move_before(const Ids& ids, std::optional<std::int64_t> total, bool shrunk) noexcept;
  [[nodiscard]] bool must_read_again(Move move, std::int64_t number) noexcept;
  void make_room(const Ids& ids, PageData& page);
  void keep_new_items(const Node* data, const Ids& ids);
  [[nodiscard]] Value checked(Value item, std::int64_t number) const;
  void check_repetition(const Ids& ids, bool any_new);
  void go_on(std::int64_t last);
  void notice(std::string_view reason) noexcept;
  void resume(std::string_view state, std::uint64_t list);
  [[nodiscard]] Error about_page(std::int64_t number, const Document& document, const Error& error) const;
  void announce() noexcept;

  OwnSource source_;
  std::int64_t first_page_;
  std::int64_t concurrency_;
  bool strict_;
  std::uint64_t list_;
  std::string path_;

  std::int64_t next_number_;
  std::int64_t last_number_ = 0;  // total_pages of the page read last
  std::int64_t highest_ = 0;      // page taken so far
  std::int64_t border_ = 0;       // page that the list moved before, and the one before it is read again; 0: none
  std::int64_t mended_ = 0;       // a page whose border has been read again
  std::int64_t ahead_;            // how many pages are asked for at once: fewer while the list moves
  std::int64_t announced_ = 0;    // the last page that was asked for ahead of its time
  bool anew_ = false;
  std::optional<std::int64_t>
      resumed_;                     // of the page read next, so many items were yielded in another life; -1: unknown
  bool second_ = false;             // the second reading of a strict one
  std::int64_t first_reading_ = 0;  // pages of the first
  std::int64_t first_fetched_ = 0;  // and where it stood in the end, for the state
  std::string_view first_noticed_;
  std::optional<std::int64_t> first_counted_;
  std::optional<std::int64_t> counted_;  // records of this reading; nothing where it did not begin at page 1
  Ids first_ids_;
  bool ended_ = false;  // the last page has been read
  bool stopped_ = false;
  std::int64_t fetched_ = 0;
  std::optional<std::int64_t> total_;
  std::string_view noticed_;  // the first sign that the list moved; empty: none

  std::optional<PageData> page_;
  std::int64_t page_number_ = 0;
  std::size_t position_ = 0;  // next item of page_
  bool odd_ = false;          // it has items that are no objects
  std::int64_t taken_ = 0;    // items and pages that were handed out
  std::optional<Value> first_;

  RecentIds known_;
  Ids page_ids_;                 // of the items of page_
  std::int64_t known_here_ = 0;  // ids of the page that were yielded before it was read
  std::size_t page_size_ = 0;    // the largest so far
  Ids yielded_;                  // of the pages before, two pages full
  Ids previous_;                 // of everything on the page read last
  int same_pages_ = 1;
  int pages_without_news_ = 0;
};

/// Where a pager stands; see Pager::state().
struct PagerState {
  std::uint64_t list = 0;
  std::int64_t page = 1;  // to read next
  std::int64_t seen = 0;  // of its items, those that were yielded; -1: not known
  std::int64_t fetched = 0;
  std::optional<std::int64_t> total;
  std::optional<std::int64_t> counted;  // records that were yielded, if it began at page 1
  std::string_view noticed;
  std::vector<std::uint64_t> ids;  // yielded lately
};
[[nodiscard]] std::string write_state(const PagerState& state);
/// Nothing when it is none.
[[nodiscard]] std::optional<PagerState> read_state(std::string_view text);

}  // namespace billcore::detail
