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

namespace detail {

/// One page as it came: its numbers, and the items that had not been yielded before.
struct PageData {
  std::shared_ptr<const Document> document;
  std::vector<const Node*> items;
  Pagination pagination;
};

class PagerCore;

/// The page to ask for now, and those that may be asked for with it: up to `last`, `count` in all.
struct Wanted {
  std::int64_t page = 1;
  std::int64_t last = 1;
  std::int64_t count = 1;
  bool anew = false;  // what was fetched ahead of its time is out of date
};

struct PagerOptions {
  std::int64_t first_page = 1;
  std::int64_t concurrency = 1;                 // pages on their way at once, at least 1
  bool strict = false;                          // read the list a second time, for what the first missed
  std::optional<std::string_view> resume = {};  // a state()
  std::uint64_t list = 0;                       // tells lists apart, so that no state is taken for another list's
  std::string path = {};                        // for errors
};

// In steps, for faces that wait in their own way: the page that is wanted, what it brought, what is at hand. Only
// advance() fetches, where the pager was made by a client.
[[nodiscard]] std::shared_ptr<PagerCore> make_pager_core(const PagerOptions& options);
bool advance(PagerCore& core);  // fetches, if it was made to; false at the end
[[nodiscard]] std::optional<Wanted> wanted_page(const PagerCore& core) noexcept;
void accept_page(PagerCore& core, const std::shared_ptr<const Document>& document);
[[nodiscard]] std::optional<Value> take_item(PagerCore& core);
[[nodiscard]] std::optional<PageData> take_page(PagerCore& core);
[[nodiscard]] std::int64_t taken_items(const PagerCore& core) noexcept;

/// How far a page has been taken. Of use until another page comes.
struct PagerMark {
  std::int64_t fetched = 0;
  std::int64_t taken = 0;
  std::size_t position = 0;
  bool stopped = false;
  friend bool operator==(const PagerMark&, const PagerMark&) = default;
};
[[nodiscard]] PagerMark mark(const PagerCore& core) noexcept;
/// Undoes taking, for what never reached its reader: back to `before`, unless the pager has moved since `after`.
void take_back(PagerCore& core, const PagerMark& before, const PagerMark& after) noexcept;
/// All of a pager but its source, to go back over several pages: those are fetched again.
[[nodiscard]] std::shared_ptr<const PagerCore> snapshot(const PagerCore& core);
void restore(PagerCore& core, const PagerCore& snapshot);
[[nodiscard]] std::optional<Value> known_first(const PagerCore& core);
[[nodiscard]] bool knows_first(const PagerCore& core) noexcept;

[[nodiscard]] std::optional<Value> next_item(PagerCore& core);
[[nodiscard]] std::optional<PageData> next_page(PagerCore& core);
[[nodiscard]] std::optional<Value> first_item(PagerCore& core);
[[nodiscard]] bool buffered(const PagerCore& core) noexcept;
[[nodiscard]] std::optional<std::int64_t> list_total(const PagerCore& core) noexcept;
[[nodiscard]] std::int64_t fetched_pages(const PagerCore& core) noexcept;
[[nodiscard]] std::optional<Verdict> verdict(const PagerCore& core) noexcept;
[[nodiscard]] std::string list_state(const PagerCore& core);
void stop(PagerCore& core) noexcept;

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

template <typename T>
class Pager {
 public:
  /// Move-only; when one dies before the end of the list, the reading counts as stopped.
  class Iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    Iterator() = default;
    explicit Iterator(std::shared_ptr<detail::PagerCore> core) : core_(std::move(core)), item_(std::nullopt) {
      ++*this;
    }
    Iterator(Iterator&&) noexcept = default;
    Iterator& operator=(Iterator&&) noexcept = default;
    Iterator(const Iterator&) = delete;
    Iterator& operator=(const Iterator&) = delete;
    ~Iterator() {
      if (core_ != nullptr) detail::stop(*core_);
    }
    [[nodiscard]] const T& operator*() const { return *item_; }
    [[nodiscard]] const T* operator->() const { return &*item_; }
    Iterator& operator++() {
      if (auto value = detail::next_item(*core_)) {
        item_ = T(*std::move(value));
      } else {
        item_.reset();
        core_.reset();
      }
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& it, std::default_sentinel_t) noexcept { return it.core_ == nullptr; }

   private:
    std::shared_ptr<detail::PagerCore> core_;
    std::optional<T> item_;
  };

  explicit Pager(std::shared_ptr<detail::PagerCore> core) : core_(std::move(core)) {}

  /// The next item, or nothing behind the last one. After an error the next call asks for the same page again; after that
  /// of an item that is no object, Error(decode), it goes on behind that item.
  [[nodiscard]] std::optional<T> next() {
    auto value = detail::next_item(*core_);
    if (!value) return std::nullopt;
    return T(*std::move(value));
  }
  /// The next page (first what is left of a page already begun), or nothing behind the last one. An item that is no
  /// object is an Error(decode) once, then the page comes without it.
  [[nodiscard]] std::optional<Page<T>> next_page() {
    auto page = detail::next_page(*core_);
    if (!page) return std::nullopt;
    return Page<T>(*std::move(page));
  }
  /// The list's first item, without moving on: one request at most.
  [[nodiscard]] std::optional<T> first() {
    auto value = detail::first_item(*core_);
    if (!value) return std::nullopt;
    return T(*std::move(value));
  }
  /// All (remaining) items, at most `limit`. When it throws it takes none: the pager stands where it stood before.
  [[nodiscard]] std::vector<T> collect(std::size_t limit = std::numeric_limits<std::size_t>::max()) {
    const auto before = detail::snapshot(*core_);
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
      detail::restore(*core_, *before);
      throw;
    }
  }
  /// Is the next item at hand? Then next() sends no request and does not wait.
  [[nodiscard]] bool buffered() const noexcept { return detail::buffered(*core_); }
  /// The service's count of the whole list, from the page read last; nothing before the first.
  [[nodiscard]] std::optional<std::int64_t> total() const noexcept { return detail::list_total(*core_); }
  [[nodiscard]] std::int64_t fetched_pages() const noexcept { return detail::fetched_pages(*core_); }
  /// Nothing until the last page has been read or the reading was stopped.
  [[nodiscard]] std::optional<Verdict> verdict() const noexcept { return detail::verdict(*core_); }
  /// Where it stands, as a short text: a list of the same arguments with this as `resume` goes on from here, also in a later
  /// process.
  [[nodiscard]] std::string state() const { return detail::list_state(*core_); }
  /// Says that the rest is not wanted (a no-op at the end of the list). Reading on is possible.
  void stop() noexcept { detail::stop(*core_); }

  [[nodiscard]] Iterator begin() { return Iterator(core_); }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

  /// For the library's own use.
  [[nodiscard]] const std::shared_ptr<detail::PagerCore>& core() const noexcept { return core_; }

 private:
  std::shared_ptr<detail::PagerCore> core_;
};

}  // namespace billcore
