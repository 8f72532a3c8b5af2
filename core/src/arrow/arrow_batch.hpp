// Declarations for the files that use nanoarrow. Internal.
#pragma once

#include <nanoarrow/nanoarrow.h>

#include "billcore/arrow.hpp"

namespace billcore::detail {

template <typename Struct>
ArrowPtr<Struct> make_empty() {
  return ArrowPtr<Struct>(new Struct{});
}

}  // namespace billcore::detail
