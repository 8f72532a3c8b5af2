// The layout that the objects of an array have in common. Internal, only for files in json/.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "json/node.hpp"

namespace billcore::detail {

/// Finds the members of alike objects without scanning each object. Objects are alike if their names have the same
/// lengths in the same order, as the names of a list's records nearly always have. find() still compares the names, so
/// it gives the same result as a scan. A member is *plain* if no alike object has an array or an object before it: its
/// name is at the same offset in all of them.
class Layout {
 public:
  /// Marks those objects of `array` that are alike the first item. Returns null, and marks nothing, if the array has
  /// fewer than two items, or if its first item is not an object or has no or too many members. Only one thread may use
  /// the document meanwhile.
  [[nodiscard]] static std::unique_ptr<const Layout> mark(yyjson_val* array);
  [[nodiscard]] static bool is_marked(const yyjson_val* object) noexcept { return (object->tag & mark_bit) != 0; }
  /// Returns the value of the last member with this name; null if there is none. `object` must be marked.
  [[nodiscard]] const yyjson_val* find(const yyjson_val* object, std::string_view name) const noexcept;
  /// Does the same without calling a function, but only if the member is plain and its name is short; otherwise returns
  /// null.
  [[nodiscard]] const yyjson_val* find_plain(const yyjson_val* object, std::string_view name) const noexcept {
    for (std::size_t place = last_[hash(name.size())]; place < plain_; place = before_[place]) {
      const yyjson_val* const key = name_at(object, place);
      if (name.size() <= most_inlined && is_named(key, name)) return key + 1;
    }
    return nullptr;
  }

 private:
  static constexpr std::uint64_t mark_bit = std::uint64_t{1} << 7U;  // a bit of the tag that yyjson does not use
  static_assert((mark_bit & (YYJSON_TYPE_MASK | YYJSON_SUBTYPE_MASK)) == 0 && YYJSON_TAG_BIT == 8);
  static constexpr std::size_t most_members = 64;
  static constexpr std::size_t most_inlined = 16;  // length up to which is_named() calls no function
  static constexpr std::uint8_t none = 0xFF;       // larger than each place, which ends the loop in find_plain()

  // The place of a member is its number in the object, from 0. A name, and a value that is not a container, each take
  // one entry of yyjson's array.
  [[nodiscard]] static const yyjson_val* name_at(const yyjson_val* object, std::size_t place) noexcept {
    return object + 1 + 2 * place;
  }
  [[nodiscard]] static std::size_t hash(std::size_t length) noexcept { return length % 32; }
  [[nodiscard]] bool learn(const yyjson_val* object) noexcept;
  [[nodiscard]] bool is_alike(const yyjson_val* object) noexcept;

  std::size_t count_ = 0;
  std::size_t plain_ = 0;              // the members before this place are plain
  std::array<std::uint8_t, 32> last_;  // for each hash, the place of the last member whose name's length has it
  std::array<std::uint8_t, most_members> before_;    // for each place, the previous one with the same hash
  std::array<std::uint32_t, most_members> lengths_;  // for each place, the length of the name
};

}  // namespace billcore::detail
