#include "base/utf8.hpp"

namespace billcore::detail {

std::size_t utf8_prefix(std::string_view text) noexcept {
  const auto* const begin = reinterpret_cast<const unsigned char*>(text.data());
  const auto* at = begin;
  const auto* const end = begin + text.size();
  const auto continues = [&](int count) {
    for (int i = 1; i <= count; ++i) {
      if (end - at <= i || (at[i] & 0xC0U) != 0x80U) return false;
    }
    return true;
  };
  while (at < end) {
    if (at[0] < 0x80) {
      at += 1;
    } else if (at[0] >= 0xC2 && at[0] <= 0xDF && continues(1)) {
      at += 2;
    } else if (at[0] >= 0xE0 && at[0] <= 0xEF && continues(2) && !(at[0] == 0xE0 && at[1] < 0xA0) &&
               !(at[0] == 0xED && at[1] > 0x9F)) {
      at += 3;
    } else if (at[0] >= 0xF0 && at[0] <= 0xF4 && continues(3) && !(at[0] == 0xF0 && at[1] < 0x90) &&
               !(at[0] == 0xF4 && at[1] > 0x8F)) {
      at += 4;
    } else {
      break;
    }
  }
  return static_cast<std::size_t>(at - begin);
}

}  // namespace billcore::detail
