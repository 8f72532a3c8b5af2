// The header lines of an answer, which are looked at only when somebody asks. Internal.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text.hpp"

namespace billcore::detail {

/// Calls `each(name, value)` for every header, both without white space around them, until it says true.
template <typename Each>
void for_each_header(std::string_view head, Each each) {
  while (!head.empty()) {
    const auto line = head.substr(0, head.find('\n'));
    head.remove_prefix(std::min(line.size() + 1, head.size()));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) continue;
    if (each(trim(line.substr(0, colon)), trim(line.substr(colon + 1)))) return;
  }
}

/// Value of the first header of this name (in lower case); empty without one.
[[nodiscard]] inline std::string_view find_header(std::string_view head, std::string_view name) noexcept {
  std::string_view found;
  for_each_header(head, [&](std::string_view key, std::string_view value) {
    const bool same = key.size() == name.size() &&
                      std::equal(key.begin(), key.end(), name.begin(), [](char a, char b) { return lower(a) == b; });
    if (same) found = value;
    return same;
  });
  return found;
}

}  // namespace billcore::detail
