// Record batches out of pages. Needs nothing of the client. Internal.
#pragma once

#include <nanoarrow/nanoarrow.h>

#include <memory>

#include "billcore/arrow.hpp"
#include "billcore/pager.hpp"

namespace billcore::detail {

template <typename Struct>
ArrowPtr<Struct> make_empty() {
  return ArrowPtr<Struct>(new Struct{});
}

/// Error(decode) with the path of a value of another type.
[[nodiscard]] Batch make_batch(std::shared_ptr<const Columns> columns, const PageData& page);

}  // namespace billcore::detail
