// Joins batches. Internal.
#pragma once

#include <vector>

#include "billcore/arrow.hpp"

namespace billcore::detail {

/// One batch with the rows of all `batches`, in their order. They must have the same columns; there must be at least one.
[[nodiscard]] Batch join(const std::vector<Batch>& batches);

}  // namespace billcore::detail
