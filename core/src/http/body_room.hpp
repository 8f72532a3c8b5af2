// Grows the text of a body. Internal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace billcore::detail {

/// Reserves memory for a large body, but not more than `most` bytes. Without this function, append() could double the
/// capacity to far more than `most`.
inline void make_room(std::string& body, std::size_t more, std::size_t most) {
  const auto needed = std::min(body.size() + more, most);
  if (needed <= body.capacity()) return;
  body.reserve(std::max(needed, body.capacity() > most / 4 ? most : body.capacity() * 2));
}

}  // namespace billcore::detail
