// A pager's state as text: what a later process needs to go on. Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace billcore::detail {

/// Where a pager stands; see Pager::state().
struct PagerState {
  std::uint64_t list = 0;
  std::int64_t page = 1;  // to read next
  std::int64_t seen = 0;  // of its items, those that were yielded; -1: not known
  std::int64_t fetched = 0;
  std::optional<std::int64_t> total;
  std::optional<std::int64_t> counted;  // records that were yielded, if it began at page 1
  std::string_view noticed;
  std::vector<std::uint64_t> ids;  // yielded lately
};
[[nodiscard]] std::string write_state(const PagerState& state);
/// Nothing when it is none.
[[nodiscard]] std::optional<PagerState> read_state(std::string_view text);

}  // namespace billcore::detail
