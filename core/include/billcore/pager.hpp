// Lists: a lazy, ordered range over all pages.
//
// The first page is fetched alone. From the second item on those that follow are on their way, too, as many as
// ClientOptions::concurrency allows: they move on whenever the list is read, since no thread works for it, and a pause
// between two items is no time-out. Lists move while they are read: an id seen within the last pages is not yielded
// again, the border to a page that moved is read again, and verdict() says in the end whether a record may have been
// missed. `strict` reads the list twice, for what the first reading missed. An error names its page; the next step asks
// for that page again, and so does a later process with state() as its `resume`. A Pager is single-pass and moves
// forward only; one thread at a time. Items keep their page alive, nothing else. Service interface: Resources and their
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

/// Was everything read that was there from start to end?
struct Verdict {
  bool complete = false;
  /// Why a record may have been missed: "total_changed", "overlap", "repeated_page", "list_shrank", "stopped",
  /// "total_differs" (not as many records came as `total` counts) or "undecodable_item" (an item that is no object);
  /// empty when complete.
  std::string_view reason;
};

/// `links` of a page, as received; the library never follows them.
class PageLinks : public Resource {
 public:
  using Resource::Resource;
  [[nodiscard]] std::optional<std::string_view> next() const { return nullable_text("next"); }
  [[nodiscard]] std::optional<std::string_view> previous() const { return nullable_text("previous"); }
};

/// The numbers of a page. Service interface: Pagination.
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

/// One page as it came: its numbers, and the items that had not been yielded before.
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

/// A list apart from the type of its items: what every Pager has.
class AnyPager {
 public:
  explicit AnyPager(std::shared_ptr<detail::PageFlow> flow) noexcept : flow_(std::move(flow)) {}

  /// Is the next item at hand? Then next() sends no request and does not wait.
  [[nodiscard]] bool buffered() const noexcept;
  /// The service's count of the whole list, from the page read last; nothing before the first.
  [[nodiscard]] std::optional<std::int64_t> total() const noexcept;
  [[nodiscard]] std::int64_t fetched_pages() const noexcept;
  /// Nothing until the last page has been read or the reading was stopped.
  [[nodiscard]] std::optional<Verdict> verdict() const noexcept;
  /// Where it stands, as a short text: a list of the same arguments with this as `resume` goes on from here, also in a later
  /// process.
  [[nodiscard]] std::string state() const;
  /// Says that the rest is not wanted (a no-op at the end of the list). Reading on is possible.
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

  /// Move-only; when one dies before the end of the list, the reading counts as stopped.
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

  /// The next item, or nothing behind the last one. After an error the next call asks for the same page again; after that
  /// of an item that is no object, Error(decode), it goes on behind that item.
  [[nodiscard]] std::optional<T> next() { return typed<T>(next_value()); }
  /// The next page (first what is left of a page already begun), or nothing behind the last one. An item that is no
  /// object is an Error(decode) once, then the page comes without it.
  [[nodiscard]] std::optional<Page<T>> next_page() { return typed<Page<T>>(next_data()); }
  /// The list's first item, without moving on: one request at most.
  [[nodiscard]] std::optional<T> first() { return typed<T>(first_value()); }
  /// All (remaining) items, at most `limit`. When it throws it takes none: the pager stands where it stood before.
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
