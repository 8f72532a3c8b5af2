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
#include "paging/drift.hpp"
#include "paging/page_cursor.hpp"
#include "paging/page_plan.hpp"

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
  void fetching() noexcept { plan_.fetching(); }
  void announced(const Wanted& pages) noexcept { plan_.announced(pages); }
  [[nodiscard]] bool has_page() const noexcept { return cursor_.has_page(); }
  [[nodiscard]] std::int64_t taken() const noexcept { return taken_; }
  /// Takes the page that wanted() named. Error(pagination) when it cannot be; it is wanted again then.
  void accept(const std::shared_ptr<const Document>& document);
  [[nodiscard]] std::optional<Value> take_item();
  [[nodiscard]] std::optional<PageData> take_page();
  [[nodiscard]] PagerMark mark() const noexcept { return {fetched_, taken_, cursor_.position(), stopped_}; }
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
  [[nodiscard]] bool buffered() const noexcept { return cursor_.left() > 0; }
  [[nodiscard]] std::optional<std::int64_t> total() const noexcept { return drift_.total(); }
  [[nodiscard]] std::int64_t fetched_pages() const noexcept { return fetched_; }
  [[nodiscard]] std::optional<Verdict> verdict() const noexcept;
  [[nodiscard]] std::string state() const;
  void stop() noexcept;

 private:
  void read(const std::shared_ptr<const Document>& document);
  void reserve(const Ids& ids, PageData& page);
  void keep_new_items(const Node* data, const Ids& ids);
  void end_reading() noexcept;
  void resume(std::string_view state);
  [[nodiscard]] bool may_prefetch() const noexcept;
  [[nodiscard]] Value checked(Value item, std::int64_t number) const;
  [[nodiscard]] Error about_page(std::int64_t number, const Document& document, const Error& error) const;
  void announce() noexcept;

  /// Of a strict one: how the first reading ended, for the state.
  struct FirstReading {
    std::int64_t pages = 0;
    std::int64_t fetched = 0;
    std::string_view noticed;
    std::optional<std::int64_t> counted;
    Ids ids;
  };

  OwnSource source_;
  bool strict_;
  std::uint64_t list_;
  std::string path_;
  PagePlan plan_;
  Drift drift_;
  PageCursor cursor_;
  bool second_ = false;  // the second reading of a strict one
  FirstReading first_reading_;
  bool stopped_ = false;
  std::int64_t fetched_ = 0;
  std::int64_t taken_ = 0;  // items and pages that were handed out
  std::optional<Value> first_;
  Ids yielded_;                // of the pages before, two pages full
  std::size_t page_size_ = 0;  // the largest so far
};

}  // namespace billcore::detail
