// A pager's state as text, for resuming in a later process. Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace billcore::detail {

inline constexpr auto most_shift = std::int64_t{1} << 40U;

/// Read position of a pager; see Pager::state().
struct PagerState {
  std::uint64_t list = 0;
  std::int64_t page = 1;  // to read next
  std::int64_t seen = 0;  // number of its ids that were already yielded; -1: unknown
  std::int64_t fetched = 0;
  std::optional<std::int64_t> total;
  std::optional<std::int64_t> counted;  // records yielded, if the list was read from page 1
  std::string_view noticed;
  std::int64_t shift = 0;  // records that lie ahead a second time, since the list has grown
  // Of the records passed last, latest last; 0: of one that cannot be recognised, without an id or forgotten.
  std::vector<std::uint64_t> ids;
};
[[nodiscard]] std::string write_state(const PagerState& state);
/// nullopt if the text is not a valid state.
[[nodiscard]] std::optional<PagerState> read_state(std::string_view text);

}  // namespace billcore::detail
