// Conversion between Node and yyjson's values. Only for files in json/.
#pragma once

#include <yyjson.h>

#include "billcore/detail/document.hpp"

namespace billcore::detail {

// Node is yyjson_val under another name, so that no header exposes a third-party type. yyjson stores an immutable
// document as one array in text order, which raw() and path() rely on.
inline yyjson_val* val(const Node* node) noexcept { return reinterpret_cast<yyjson_val*>(const_cast<Node*>(node)); }
inline const Node* node(const yyjson_val* value) noexcept { return reinterpret_cast<const Node*>(value); }

inline const yyjson_val* next_of(const yyjson_val* value) noexcept {
  // A branch is fast here: the processor predicts it, and so loads the next value while the present one is still
  // loading.
  if (unsafe_yyjson_is_ctn(const_cast<yyjson_val*>(value)))
    return unsafe_yyjson_get_next(const_cast<yyjson_val*>(value));
  return value + 1;
}

}  // namespace billcore::detail
