// The current page of a list, and the position of the reader in it. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "billcore/detail/document.hpp"
#include "billcore/pager.hpp"
#include "paging/drift.hpp"

namespace billcore::detail {

/// Threads: one at a time.
class PageCursor {
 public:
  /// Reserves memory for the items of a page, so that keep() does not allocate.
  static void reserve(PageData& page, std::size_t count) { page.items.reserve(count); }
  void reserve(std::size_t count) { ids_.reserve(count); }

  /// Starts a new page that has no items yet.
  void open(PageData page, std::int64_t number) noexcept;
  /// Adds an item to yield. An item that is not an object causes an error when the reader takes it.
  void keep(const Node* item, std::uint64_t id, bool is_object) {
    odd_ = odd_ || !is_object;
    page_->items.push_back(item);
    ids_.push_back(id);
  }
  /// Counts an item of this page that was already yielded before, so it is not yielded again.
  void note_known() noexcept { ++known_; }
  void close() noexcept { page_.reset(); }

  [[nodiscard]] bool has_page() const noexcept { return page_.has_value(); }
  [[nodiscard]] const PageData& page() const noexcept { return *page_; }
  [[nodiscard]] std::int64_t number() const noexcept { return number_; }
  [[nodiscard]] std::size_t position() const noexcept { return position_; }
  void set_position(std::size_t position) noexcept { position_ = position; }
  [[nodiscard]] std::size_t left() const noexcept { return page_ ? page_->items.size() - position_ : 0; }
  [[nodiscard]] const Ids& ids() const noexcept { return ids_; }
  [[nodiscard]] std::span<const std::uint64_t> taken_ids() const noexcept { return {ids_.data(), position_}; }
  [[nodiscard]] std::span<const std::uint64_t> left_ids() const noexcept { return std::span(ids_).subspan(position_); }
  /// Number of records on this page that were already yielded, now or when they were on an earlier page.
  [[nodiscard]] std::int64_t given_ids() const noexcept;
  [[nodiscard]] bool may_hold_other_than_objects() const noexcept { return odd_; }

  /// Returns the next item; at least one must be left.
  [[nodiscard]] Value take() noexcept { return {page_->document, page_->items[position_++]}; }
  void skip_rest() noexcept { position_ = page_->items.size(); }
  /// Removes the first remaining item that is not an object and returns it; nullopt if there is none.
  [[nodiscard]] std::optional<Value> drop_odd();
  /// The remaining items of the page. Call this function only if has_page() returns true.
  [[nodiscard]] PageData rest() const;

 private:
  std::optional<PageData> page_;
  std::int64_t number_ = 0;
  std::size_t position_ = 0;  // index of the next item
  bool odd_ = false;
  Ids ids_;  // ids of the page's items
  std::int64_t known_ = 0;
};

}  // namespace billcore::detail
