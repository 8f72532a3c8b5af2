// Conversion between Node and yyjson's values. Only for files in json/.
#pragma once

#include <yyjson.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/text.hpp"
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

// The low 32 bits of a name's length, which yyjson stores in 56 bits. A comparison of 32 bits takes one instruction.
inline std::uint32_t low_length(const yyjson_val* key) noexcept {
  static_assert(YYJSON_TAG_BIT == 8);
  if constexpr (std::endian::native == std::endian::little) {
    std::uint32_t out = 0;
    std::memcpy(&out, reinterpret_cast<const char*>(&key->tag) + 1, sizeof out);
    return out;
  }
  return static_cast<std::uint32_t>(key->tag >> YYJSON_TAG_BIT);
}

inline bool is_named(const yyjson_val* key, std::string_view name) noexcept {
  return key->tag >> YYJSON_TAG_BIT == name.size() && same_bytes(key->uni.str, name.data(), name.size());
}

}  // namespace billcore::detail
