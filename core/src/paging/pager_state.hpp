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
  std::int64_t page = 1;  // page to read next
  std::int64_t seen = 0;  // number of ids of `page` that were already yielded; -1: unknown
  std::int64_t fetched = 0;
  std::optional<std::int64_t> total;
  std::optional<std::int64_t> counted;  // records yielded, if the list was read from page 1
  std::string_view noticed;
  std::int64_t shift = 0;  // records already read that appear again on later pages, because the list has grown
  // Id hashes of the records that were read last, the latest at the end. 0 for a record that cannot be recognised,
  // because it has no id or its id was forgotten.
  std::vector<std::uint64_t> ids;
};
[[nodiscard]] std::string write_state(const PagerState& state);
/// Reads the text of a state; nullopt if it is not valid.
[[nodiscard]] std::optional<PagerState> read_state(std::string_view text);

}  // namespace billcore::detail
