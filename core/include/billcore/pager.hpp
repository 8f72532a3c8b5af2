// Lists: a lazy, ordered range over all pages.
//
// The pager fetches the first page alone. When the caller reads the second item, the pager starts to prefetch the
// following pages, up to ClientOptions::concurrency at once. There is no background thread: requests progress whenever
// the caller reads from the list, and a pause between two items does not count towards the time-out. Records may be
// added or removed while a list is read. The pager does not yield a record again if its id was on one of the last
// pages. When records may have moved to the previous page, the pager reads that page again. At the end verdict() says
// whether a record may have been missed. `strict` reads the list twice, to find records that the first pass missed. An
// error names the page that failed. After an error, the next read requests the failed page again; so does the first
// read of a list that is made with state() as `resume`, even in a later process. A Pager is single-pass and
// forward-only. Threads: one at a time. An item keeps only its own page alive. Service interface: Resources and their
// fields, Pagination.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "billcore/error.hpp"
#include "billcore/json.hpp"
#include "billcore/resource.hpp"

namespace billcore {

/// Whether the list returned every record that existed from the time of its first request to the time of its last.
struct Verdict {
  bool complete = false;
  /// The reason why a record may have been missed, one of the texts "total_changed", "overlap", "repeated_page",
  /// "list_shrank", "stopped", "total_differs" (the number of records differs from `total`), "undecodable_item" (an
  /// item is not an object), "no_total" (a page had no readable `total`, so a list of several pages may have changed
  /// unnoticed; with `strict`, a second pass with equal results proves that the list did not change). "may_repeat"
  /// replaces any of these reasons: the list has grown by more records than state() contains ids, so some records may
  /// also have been yielded twice; drop duplicates by id. Empty when complete.
  std::string_view reason;
};

/// `links` of a page, as received; the library never follows them.
class PageLinks : public Resource {
 public:
  using Resource::Resource;
  [[nodiscard]] std::optional<std::string_view> next() const { return nullable_text("next"); }
  [[nodiscard]] std::optional<std::string_view> previous() const { return nullable_text("previous"); }
};

/// The `pagination` object of a page. Service interface: Pagination.
class Pagination : public Resource {
 public:
  using Resource::Resource;
  [[nodiscard]] std::int64_t total() const { return integer("total"); }
  [[nodiscard]] std::int64_t count() const { return integer("count"); }
  [[nodiscard]] std::int64_t per_page() const { return integer("per_page"); }
  [[nodiscard]] std::int64_t current_page() const { return integer("current_page"); }
  [[nodiscard]] std::int64_t total_pages() const { return integer("total_pages"); }
  [[nodiscard]] PageLinks links() const { return PageLinks(object("links")); }
};

namespace internal {
struct Access;  // see internal.hpp
}

namespace detail {

/// One page as received: its pagination, and the items that the list has not yielded before.
struct PageData {
  std::shared_ptr<const Document> document;
  std::vector<const Node*> items;
  Pagination pagination;
};

class PagerCore;
class PageFlow;

}  // namespace detail

template <typename T>
class Page {
 public:
  explicit Page(detail::PageData data) : data_(std::move(data)) {}

  [[nodiscard]] std::vector<T> items() const {
    std::vector<T> out;
    out.reserve(data_.items.size());
    for (const auto* node : data_.items) out.emplace_back(Value(data_.document, node));
    return out;
  }
  [[nodiscard]] std::int64_t total() const { return data_.pagination.total(); }
  [[nodiscard]] std::int64_t count() const { return data_.pagination.count(); }
  [[nodiscard]] std::int64_t per_page() const { return data_.pagination.per_page(); }
  [[nodiscard]] std::int64_t current_page() const { return data_.pagination.current_page(); }
  [[nodiscard]] std::int64_t total_pages() const { return data_.pagination.total_pages(); }
  [[nodiscard]] PageLinks links() const { return data_.pagination.links(); }
  [[nodiscard]] const Pagination& pagination() const noexcept { return data_.pagination; }

 private:
  detail::PageData data_;
};

/// The part of a Pager that does not depend on the type of the items.
class AnyPager {
 public:
  explicit AnyPager(std::shared_ptr<detail::PageFlow> flow) noexcept : flow_(std::move(flow)) {}

  /// True if next() can return an item without a request or a wait.
  [[nodiscard]] bool buffered() const noexcept;
  /// Number of records in the whole list according to the service, from the page read last; nullopt before the first
  /// page.
  [[nodiscard]] std::optional<std::int64_t> total() const noexcept;
  [[nodiscard]] std::int64_t fetched_pages() const noexcept;
  /// The verdict; nullopt until the last item was read or the list was stopped.
  [[nodiscard]] std::optional<Verdict> verdict() const noexcept;
  /// The read position as a text. To continue from this position, also in a later process, make a list with the same
  /// arguments except `page`, and pass the text as `resume`. The result contains the ids of the last 18 pages (2 *
  /// concurrency + 2 if that is more), at most 4096 ids. With 20, 100 or 200 records per page, the result has 4, 19 or
  /// 39 KB, and state() takes 3, 16 or 32 µs. If the number of records that are added before the list is resumed
  /// exceeds the number of ids in the result, or if a page has no `total`, some records may be yielded twice; the
  /// verdict is then "may_repeat".
  [[nodiscard]] std::string state() const;
  /// Cancels the prefetched pages and sets the verdict to "stopped" (at the end of the list it does nothing). After
  /// stop() the caller may continue to read.
  void stop() noexcept;

 protected:
  [[nodiscard]] std::optional<Value> next_value();
  [[nodiscard]] std::optional<detail::PageData> next_data();
  [[nodiscard]] std::optional<Value> first_value();
  [[nodiscard]] std::shared_ptr<const detail::PagerCore> snapshot() const;
  void restore(const detail::PagerCore& snapshot);

 private:
  friend struct internal::Access;
  std::shared_ptr<detail::PageFlow> flow_;
};

template <typename T>
class Pager : public AnyPager {
 public:
  using AnyPager::AnyPager;

  /// Move-only. Destroying an iterator before the end of the list stops the list.
  class Iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    Iterator() = default;
    explicit Iterator(Pager list) : list_(std::move(list)), item_(std::nullopt) { ++*this; }
    Iterator(Iterator&& other) noexcept
        : list_(std::exchange(other.list_, std::nullopt)), item_(std::move(other.item_)) {}
    Iterator& operator=(Iterator&& other) noexcept {
      std::swap(list_, other.list_);
      std::swap(item_, other.item_);
      return *this;
    }
    Iterator(const Iterator&) = delete;
    Iterator& operator=(const Iterator&) = delete;
    ~Iterator() {
      if (list_) list_->stop();
    }
    [[nodiscard]] const T& operator*() const { return *item_; }
    [[nodiscard]] const T* operator->() const { return &*item_; }
    Iterator& operator++() {
      item_ = list_->next();
      if (!item_) list_.reset();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& it, std::default_sentinel_t) noexcept { return !it.list_; }

   private:
    std::optional<Pager> list_;
    std::optional<T> item_;
  };

  /// The next item, or nullopt after the last one. After an error, the next call requests the failed page again. An
  /// item that is not an object throws Error(decode); the next call continues after that item.
  [[nodiscard]] std::optional<T> next() { return typed<T>(next_value()); }
  /// The next page, or the unread items of a partly read page; nullopt after the last page. An item that is not an
  /// object throws Error(decode) once; the next call returns the page without that item.
  [[nodiscard]] std::optional<Page<T>> next_page() { return typed<Page<T>>(next_data()); }
  /// The list's first item, without advancing the pager; sends at most one request.
  [[nodiscard]] std::optional<T> first() { return typed<T>(first_value()); }
  /// All remaining items, at most `limit`. If collect() throws, the pager returns to its position before the call.
  [[nodiscard]] std::vector<T> collect(std::size_t limit = std::numeric_limits<std::size_t>::max()) {
    const auto before = snapshot();
    try {
      std::vector<T> out;
      while (out.size() < limit) {
        auto item = next();
        if (!item) return out;
        out.push_back(*std::move(item));
      }
      stop();
      return out;
    } catch (...) {
      restore(*before);
      throw;
    }
  }

  [[nodiscard]] Iterator begin() { return Iterator(*this); }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

 private:
  template <typename Out, typename In>
  [[nodiscard]] static std::optional<Out> typed(std::optional<In> value) {
    if (!value) return std::nullopt;
    return Out(*std::move(value));
  }
};

}  // namespace billcore
