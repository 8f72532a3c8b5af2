// What the files that use nanoarrow share. Internal.
#pragma once

#include <nanoarrow/nanoarrow.h>

#include "billcore/arrow.hpp"

namespace billcore::detail {

template <typename Struct>
ArrowPtr<Struct> make_empty() {
  return ArrowPtr<Struct>(new Struct{});
}

}  // namespace billcore::detail
