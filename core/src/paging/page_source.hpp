// Where a flow gets the pages of a list from. Internal.
#pragma once

#include <memory>

#include "billcore/detail/document.hpp"
#include "paging/page_plan.hpp"

namespace billcore::detail {

/// Supplies documents with the array `data` and the object `pagination`. One implementation blocks and never returns
/// null; another is for event loops.
class PageSource {
 public:
  PageSource() = default;
  virtual ~PageSource() = default;
  PageSource(const PageSource&) = delete;
  PageSource& operator=(const PageSource&) = delete;
  /// The wanted page; null while it is in flight. Throws if it failed.
  [[nodiscard]] virtual std::shared_ptr<const Document> fetch(const Wanted& wanted) = 0;
  /// Prefetches these pages; does not wait.
  virtual void ahead(const Wanted& wanted) = 0;
  /// Called for each item: advances pages in flight; never blocks.
  virtual void tend() noexcept = 0;
  /// No pages are wanted, for now.
  virtual void stop() noexcept = 0;
};

}  // namespace billcore::detail
