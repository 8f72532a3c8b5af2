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
/// lengths in the same order; find() compares the names themselves, so the result is the one that a scan gives. The
/// records of a list are nearly always alike.
class Layout {
 public:
  /// Marks those objects of `array` that are alike the first. Returns null if the array has no two items, or no layout
  /// for them. The caller must be the only user of the document.
  [[nodiscard]] static std::unique_ptr<const Layout> mark(yyjson_val* array);
  [[nodiscard]] static bool is_marked(const yyjson_val* object) noexcept { return (object->tag & mark_bit) != 0; }
  /// Returns the value of the last member with this name; null if there is none. The object must be a marked one.
  [[nodiscard]] const yyjson_val* find(const yyjson_val* object, std::string_view name) const noexcept;
  /// As find(), but short enough to be inlined: null also for a long name, and for a member behind a container.
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
  static constexpr std::size_t most_inlined = 16;  // size up to which is_named() calls no function
  static constexpr std::uint8_t none = 0xFF;       // not less than most_members, so that find_plain() ends

  // A name and a value that is not a container take two places of yyjson's array.
  [[nodiscard]] static const yyjson_val* name_at(const yyjson_val* object, std::size_t place) noexcept {
    return object + 1 + 2 * place;
  }
  [[nodiscard]] static std::size_t hash(std::size_t length) noexcept { return length % 32; }
  [[nodiscard]] const yyjson_val* behind_plain(const yyjson_val* object, std::size_t place) const noexcept;
  [[nodiscard]] bool learn(const yyjson_val* object) noexcept;
  [[nodiscard]] bool is_alike(const yyjson_val* object) noexcept;

  std::size_t count_ = 0;
  std::size_t plain_ = 0;              // the number of first members that in no alike object have a container before
  std::array<std::uint8_t, 32> last_;  // the last member whose name's length has this hash
  std::array<std::uint8_t, most_members> before_;    // the member before with the same hash
  std::array<std::uint32_t, most_members> lengths_;  // of the names
};

}  // namespace billcore::detail
