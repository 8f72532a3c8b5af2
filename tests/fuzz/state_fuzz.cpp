// Checks the saved states of lists: a written state must be read back unchanged; a changed or invalid state must be
// refused.
//
// If the first byte of an input is even, the bytes after it are the text of a state; otherwise they define a state, and
// one change to the text of this state.
#include "bytes.hpp"
#include "paging/pager_core.hpp"
#include "paging/pager_state.hpp"

namespace {

using namespace billcore;
using namespace billcore::fuzz;
using detail::PagerState;

bool same(const PagerState& a, const PagerState& b) {
  return a.list == b.list && a.page == b.page && a.seen == b.seen && a.fetched == b.fetched && a.total == b.total &&
         a.counted == b.counted && a.noticed == b.noticed && a.shift == b.shift && a.ids == b.ids;
}

void require_of_a_list(const std::string& text, const std::optional<PagerState>& state) {
  detail::PagerOptions options;
  options.resume = text;
  options.list = state ? state->list : 0;
  try {
    const detail::PagerCore core(options);
    require(state.has_value(), "a list resumes only from a state");
    const auto again = detail::read_state(core.state());
    require(again && same(*again, *state), "a resumed list is at the position of its state");
    options.list ^= 1U;
  } catch (const Error& error) {
    require(!state && error.code() == ErrorCode::invalid_argument, "a list resumes from each of its own states");
    require_readable(error);
    return;
  }
  try {
    const detail::PagerCore core(options);
    require(false, "a list does not resume from the state of another");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::invalid_argument, "the state of another list is an invalid argument");
  }
}

void judge_text(const std::string& text) {
  const auto state = detail::read_state(text);
  require_of_a_list(text, state);
  if (!state) return;
  require(state->page >= 1 && state->seen >= -1 && state->fetched >= 0, "a state has a page");
  require(state->total.value_or(0) >= 0 && state->counted.value_or(0) >= 0, "no count is negative");
  const auto written = detail::write_state(*state);
  require(!text.starts_with("p3.") || written == text, "a state has one text");
  const auto again = detail::read_state(written);
  require(again && same(*again, *state), "a written state is read back");
}

PagerState made_of(Bytes& bytes) {
  static constexpr std::array<std::string_view, 10> reasons{
      "",        "total_changed", "overlap",          "repeated_page", "list_shrank",
      "stopped", "total_differs", "undecodable_item", "no_total",      "may_repeat"};
  constexpr auto positive = ~std::uint64_t{0} >> 1U;
  PagerState state;
  state.list = bytes.number(8);
  state.page = static_cast<std::int64_t>(std::max<std::uint64_t>(bytes.number(8) & positive, 1));
  state.seen = static_cast<std::int64_t>(bytes.number(3)) - 1;
  state.fetched = static_cast<std::int64_t>(bytes.number(8) & positive);
  if (bytes.flag()) state.total = static_cast<std::int64_t>(bytes.number(8) & positive);
  if (bytes.flag()) state.counted = static_cast<std::int64_t>(bytes.number(8) & positive);
  state.noticed = reasons.at(bytes.below(reasons.size()));
  state.shift = static_cast<std::int64_t>(bytes.number(5));
  for (auto left = bytes.below(60); left > 0; --left) state.ids.push_back(bytes.flag() ? bytes.number(8) : 0);
  return state;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  if (!bytes.flag()) {
    judge_text(std::string(bytes.rest()));
    return 0;
  }
  const auto place = bytes.number(2);
  const auto what = bytes.byte();
  const auto with = static_cast<char>(bytes.byte());
  const auto state = made_of(bytes);
  const auto text = detail::write_state(state);
  const auto read = detail::read_state(text);
  require(read && same(*read, state), "a written state is read back");
  require(
      text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") == std::string::npos,
      "a state can stand in a URL");
  judge_text(text);

  auto changed = text;
  const auto at = static_cast<std::size_t>(place) % text.size();
  switch (what % 4) {
    case 0:
      changed[at] = with;
      break;
    case 1:
      changed.insert(at, 1, with);
      break;
    case 2:
      changed.erase(at, 1 + static_cast<unsigned char>(with) % 16U);
      break;
    default:
      changed += with;
  }
  if (changed == text) return 0;
  require(!detail::read_state(changed), "a changed text is not a state");
  judge_text(changed);
  return 0;
}
