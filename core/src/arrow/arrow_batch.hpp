// Declarations for the files that use nanoarrow. Internal.
#pragma once

#include <nanoarrow/nanoarrow.h>

#include "billcore/arrow.hpp"

namespace billcore::detail {

/// Throws std::bad_alloc or Error(decode) for an error code of nanoarrow.
void check(ArrowErrorCode code);

template <typename Struct>
ArrowPtr<Struct> make_empty() {
  return ArrowPtr<Struct>(new Struct{});
}

}  // namespace billcore::detail
