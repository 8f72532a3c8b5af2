// The logic of lists, apart from how a page is fetched. Internal.
//
// In steps: wanted() says which page to ask for, accept() takes it, and the take functions give what is at hand. The others
// fetch by themselves.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "billcore/detail/document.hpp"
#include "billcore/pager.hpp"

namespace billcore::detail {

class PagerCore {
 public:
  /// Gives the page with this number: a document with the array `data` and the object `pagination`.
  using Fetch = std::function<std::shared_ptr<const Document>(std::int64_t page)>;

  /// Error(invalid_argument) when first_page is below 1. Without `fetch`, in steps only.
  PagerCore(Fetch fetch, std::int64_t first_page);

  /// The number of the page that comes next; nothing behind the last one.
  [[nodiscard]] std::optional<std::int64_t> wanted() const noexcept;
  /// Takes the page that wanted() named. Error(pagination) when it cannot be; it is wanted again then.
  void accept(const std::shared_ptr<const Document>& document);
  [[nodiscard]] std::optional<Value> take_item();
  [[nodiscard]] std::optional<PageData> take_page();

  [[nodiscard]] std::optional<Value> next_item();
  [[nodiscard]] std::optional<PageData> next_page();
  [[nodiscard]] std::optional<Value> first_item();
  [[nodiscard]] const std::optional<Value>& known_first() const noexcept { return first_; }
  [[nodiscard]] bool buffered() const noexcept { return page_ && position_ < page_->items.size(); }
  [[nodiscard]] std::optional<std::int64_t> total() const noexcept { return total_; }
  [[nodiscard]] std::int64_t fetched_pages() const noexcept { return fetched_; }
  [[nodiscard]] std::optional<Verdict> verdict() const noexcept;
  void stop() noexcept;

 private:
  using Ids = std::vector<std::string>;

  /// Fetches the next page into page_; false at the end of the list.
  bool advance();
  void read(const std::shared_ptr<const Document>& document);
  void keep_new_items(const Node* data);
  void check_repetition(const Ids& ids, bool any_new);
  void notice(std::string_view reason) noexcept;

  Fetch fetch_;
  std::int64_t next_number_;
  std::int64_t last_number_ = 0;  // total_pages of the page read last
  bool ended_ = false;            // the last page has been read
  bool stopped_ = false;
  std::int64_t fetched_ = 0;
  std::optional<std::int64_t> total_;
  std::string_view noticed_;  // the first sign that the list moved; empty: none

  std::optional<PageData> page_;
  std::size_t position_ = 0;  // next item of page_
  std::optional<Value> first_;

  // Ids yielded from the last pages, to tell an item seen again from a new one.
  std::deque<Ids> window_;
  std::unordered_set<std::string> known_;
  Ids previous_ids_;
  int same_pages_ = 1;
  int pages_without_news_ = 0;
};

}  // namespace billcore::detail
