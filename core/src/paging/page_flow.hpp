// Reads a list: combines its rules with the source of its pages. Blocking calls and event loops share this flow and
// differ only in the source. Internal.
#pragma once

#include <memory>
#include <optional>

#include "paging/page_source.hpp"
#include "paging/pager_core.hpp"

namespace billcore::detail {

/// Threads: one at a time.
class PageFlow {
 public:
  /// Error(invalid_argument) for a page below 1 and for an invalid state.
  explicit PageFlow(const PagerOptions& options, std::unique_ptr<PageSource> source = nullptr);

  /// Uses this source, which it does not own, until detach().
  void attach(PageSource& source) noexcept { source_ = &source; }
  void detach(const PageSource& source) noexcept {
    if (source_ == &source) source_ = nullptr;
  }

  /// Reads the wanted page and prefetches the following ones. Throws if the page failed; the next call requests it
  /// again.
  Step advance();
  /// Buffered items. take_item() also prefetches.
  [[nodiscard]] std::optional<Value> take_item();
  [[nodiscard]] std::optional<PageData> take_page() { return core_.take_page(); }
  /// Marks the rest as not wanted, for now.
  void stop() noexcept;

  // Only with a blocking source.
  [[nodiscard]] std::optional<Value> next_item();
  [[nodiscard]] std::optional<PageData> next_page();
  [[nodiscard]] std::optional<Value> first_item();

  [[nodiscard]] PagerCore& core() noexcept { return core_; }
  [[nodiscard]] const PagerCore& core() const noexcept { return core_; }

 private:
  void announce() noexcept;

  PagerCore core_;
  std::unique_ptr<PageSource> own_;
  PageSource* source_;
};

}  // namespace billcore::detail
