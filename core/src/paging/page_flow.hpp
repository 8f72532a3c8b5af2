// How a list is read: its rules, and the source that its pages come from. One flow for calls that wait and for event loops:
// they differ in their source alone. Internal.
#pragma once

#include <memory>
#include <optional>

#include "paging/page_source.hpp"
#include "paging/pager_core.hpp"

namespace billcore::detail {

/// Threads: one at a time.
class PageFlow {
 public:
  /// Error(invalid_argument) for a page below 1 and for a wrong state.
  explicit PageFlow(const PagerOptions& options, std::unique_ptr<PageSource> source = nullptr);

  /// Takes its pages from this source, which belongs to somebody else, until it is detached.
  void attach(PageSource& source) noexcept { source_ = &source; }
  void detach(const PageSource& source) noexcept {
    if (source_ == &source) source_ = nullptr;
  }

  /// Takes the page that is wanted, and asks for those that may be wanted soon. Throws what came in place of the page, which
  /// is wanted again then.
  Step advance();
  /// What is at hand; both ask for further pages when it is time.
  [[nodiscard]] std::optional<Value> take_item();
  [[nodiscard]] std::optional<PageData> take_page() { return core_.take_page(); }
  /// The rest is not wanted, for now.
  void stop() noexcept;

  // For a source that waits.
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
