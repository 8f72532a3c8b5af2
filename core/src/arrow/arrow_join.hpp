// Joins batches. Internal.
#pragma once

#include <vector>

#include "billcore/arrow.hpp"

namespace billcore::detail {

/// One batch with the rows of all `batches`, in their order. `batches` must not be empty, and all batches must have
/// the same columns.
[[nodiscard]] Batch join(const std::vector<Batch>& batches);

}  // namespace billcore::detail
