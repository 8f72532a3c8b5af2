// Finds a member of an object; if several members have the same name, finds the last one.
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "json/node.hpp"

namespace billcore::detail {
namespace {

// The low 32 bits of a name's length, which yyjson stores in 56 bits. A comparison of 32 bits takes one instruction.
std::uint32_t low_length(const yyjson_val* key) noexcept {
  static_assert(YYJSON_TAG_BIT == 8);
  if constexpr (std::endian::native == std::endian::little) {
    std::uint32_t out = 0;
    std::memcpy(&out, reinterpret_cast<const char*>(&key->tag) + 1, sizeof out);
    return out;
  }
  return static_cast<std::uint32_t>(key->tag >> YYJSON_TAG_BIT);
}

bool is_named(const yyjson_val* key, std::string_view name) noexcept {
  return key->tag >> YYJSON_TAG_BIT == name.size() && same_bytes(key->uni.str, name.data(), name.size());
}

}  // namespace

const Node* member(const Node* object, std::string_view name) noexcept {
  const auto wanted = static_cast<std::uint32_t>(name.size());
  if (!yyjson_is_obj(val(object))) return nullptr;
  const yyjson_val* found = nullptr;
  const yyjson_val* const end = unsafe_yyjson_get_next(val(object));
  for (const yyjson_val* key = val(object) + 1; key < end; key = next_of(key + 1)) {
    if (low_length(key) == wanted && is_named(key, name)) found = key + 1;
  }
  return node(found);
}

bool text_member(const Node* object, std::string_view name, std::string_view& out) noexcept {
  auto* const found = val(member(object, name));
  if (!yyjson_is_str(found)) return false;
  out = {unsafe_yyjson_get_str(found), unsafe_yyjson_get_len(found)};
  return true;
}

bool int64_member(const Node* object, std::string_view name, std::int64_t& out) noexcept {
  const Node* const found = member(object, name);
  return found != nullptr && int64(found, out);
}

bool has_members(const Node* object, const std::vector<std::string>& names, std::vector<const Node*>& values) noexcept {
  if (size(object) != names.size()) return false;
  const yyjson_val* key = val(object) + 1;
  auto* value = values.data();
  for (const auto& name : names) {
    if (!is_named(key, name)) return false;
    *value++ = node(key + 1);
    key = next_of(key + 1);
  }
  return true;
}

}  // namespace billcore::detail
