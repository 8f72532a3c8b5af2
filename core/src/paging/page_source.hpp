// Where the pages of a list come from, as its flow sees it. Internal.
#pragma once

#include <memory>

#include "billcore/detail/document.hpp"
#include "paging/page_plan.hpp"

namespace billcore::detail {

/// Documents with the array `data` and the object `pagination`. There is one for calls that wait, which never says "not yet",
/// and one for an event loop.
class PageSource {
 public:
  PageSource() = default;
  virtual ~PageSource() = default;
  PageSource(const PageSource&) = delete;
  PageSource& operator=(const PageSource&) = delete;
  /// The page that is wanted; null when it has been asked for and has not come yet. Throws what came in its place.
  [[nodiscard]] virtual std::shared_ptr<const Document> fetch(const Wanted& wanted) = 0;
  /// These pages will be wanted; does not wait.
  virtual void ahead(const Wanted& wanted) = 0;
  /// The consumer comes by: moves on what is on its way, without waiting. Called for every item.
  virtual void tend() noexcept = 0;
  /// Nothing is wanted any more, for now.
  virtual void stop() noexcept = 0;
};

}  // namespace billcore::detail
