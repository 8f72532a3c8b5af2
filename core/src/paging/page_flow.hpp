// Reads a list: combines the rules of PagerCore with a source of pages. Lists for blocking calls and lists for event
// loops differ only in the source of the pages. Internal.
#pragma once

#include <memory>
#include <optional>

#include "paging/page_source.hpp"
#include "paging/pager_core.hpp"

namespace billcore::detail {

/// Threads: one at a time.
class PageFlow {
 public:
  /// Throws Error(invalid_argument) for a page below 1 and for an invalid state.
  explicit PageFlow(const PagerOptions& options, std::unique_ptr<PageSource> source = nullptr);

  /// Takes the pages from `source` until detach(), and after that from its own source again. The flow does not own
  /// `source`.
  void attach(PageSource& source) noexcept { source_ = &source; }
  void detach(const PageSource& source) noexcept {
    if (source_ == &source) source_ = own_.get();
  }
  /// The source that the flow was made with.
  [[nodiscard]] PageSource* own_source() const noexcept { return own_.get(); }

  /// Reads the wanted page and prefetches the following ones. Throws if the wanted page failed; the next call
  /// requests that page again.
  Step advance();
  /// take_item() and take_page() return buffered items; take_item() also prefetches.
  [[nodiscard]] std::optional<Value> take_item();
  [[nodiscard]] std::optional<PageData> take_page() { return core_.take_page(); }
  /// Sets the verdict to "stopped", and notifies the source that no more pages are needed for now. After stop() the
  /// caller may continue to read.
  void stop() noexcept;

  // The following functions wait for a page. If the source does not block, they throw Error(invalid_argument) instead.
  [[nodiscard]] std::optional<Value> next_item();
  [[nodiscard]] std::optional<PageData> next_page();
  /// Returns the unread items of the current page and leaves them unread; fetches the next page first if no item is
  /// left. Returns nullopt after the last page.
  [[nodiscard]] std::optional<PageData> peek_page();
  [[nodiscard]] std::optional<Value> first_item();

  [[nodiscard]] PagerCore& core() noexcept { return core_; }
  [[nodiscard]] const PagerCore& core() const noexcept { return core_; }

 private:
  bool advance_blocking();
  [[nodiscard]] std::shared_ptr<const Document> fetch(const Wanted& wanted);
  void announce() noexcept;

  PagerCore core_;
  std::unique_ptr<PageSource> own_;
  PageSource* source_;
  std::optional<std::chrono::milliseconds> total_timeout_;
  Deadline until_;  // set by the first request, if there is a total time-out
};

}  // namespace billcore::detail
