// Interface of the sources from which a PageFlow gets its pages. Internal.
#pragma once

#include <memory>

#include "billcore/detail/document.hpp"
#include "paging/page_plan.hpp"

namespace billcore::detail {

/// Supplies documents with the array `data` and the object `pagination`. BlockingSource blocks and never returns null;
/// internal::LoopPages is for event loops.
class PageSource {
 public:
  PageSource() = default;
  virtual ~PageSource() = default;
  PageSource(const PageSource&) = delete;
  PageSource& operator=(const PageSource&) = delete;
  /// Whether fetch() waits for the page.
  [[nodiscard]] virtual bool blocks() const noexcept { return true; }
  /// Returns the wanted page, or null while it is in flight. Throws if the page could not be fetched.
  [[nodiscard]] virtual std::shared_ptr<const Document> fetch(const Wanted& wanted) = 0;
  /// Prefetches these pages; does not wait.
  virtual void ahead(const Wanted& wanted) = 0;
  /// Called for each item: advances the pages in flight without blocking.
  virtual void tend() noexcept = 0;
  /// Called when the reader needs no more pages for now; fetch() may be called again later.
  virtual void stop() noexcept = 0;
};

}  // namespace billcore::detail
