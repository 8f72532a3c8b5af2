#include "paging/pager_state.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/encoding.hpp"
#include "paging/recent_ids.hpp"

namespace billcore::detail {
namespace {

constexpr std::string_view version = "p3.";
constexpr std::string_view version_of_two_pages = "p2.";  // older format: states have the ids of only two pages
constexpr std::string_view version_without_count = "p1.";

// A state stores the index of a reason, so this list is append-only.
constexpr std::array<std::string_view, 10> reasons{
    "",        "total_changed", "overlap",          "repeated_page", "list_shrank",
    "stopped", "total_differs", "undecodable_item", "no_total",      "may_repeat"};

// Converts a number to or from little-endian byte order, so that states are the same on every processor.
std::uint64_t little_endian(std::uint64_t number) noexcept {
  return std::endian::native == std::endian::big ? __builtin_bswap64(number) : number;
}

void put(std::string& out, std::uint64_t number) {
  const auto bytes = std::bit_cast<std::array<char, 8>>(little_endian(number));
  out.append(bytes.data(), bytes.size());
}

std::uint64_t number_at(std::string_view bytes, std::size_t index) noexcept {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + index * 8, 8);
  return little_endian(number);
}

}  // namespace

std::string write_state(const PagerState& state) {
  std::string bytes(version);
  bytes.reserve(version.size() + (state.ids.size() + 9) * 8);
  put(bytes, state.list);
  put(bytes, static_cast<std::uint64_t>(state.page));
  put(bytes, static_cast<std::uint64_t>(state.seen));
  put(bytes, static_cast<std::uint64_t>(state.fetched));
  put(bytes, static_cast<std::uint64_t>(state.total.value_or(-1)));
  const auto* const reason = std::find(reasons.begin(), reasons.end(), state.noticed);
  put(bytes, static_cast<std::uint64_t>(reason - reasons.begin()) % reasons.size());
  put(bytes, static_cast<std::uint64_t>(state.counted.value_or(-1)));
  put(bytes, static_cast<std::uint64_t>(state.shift));
  for (const auto id : state.ids) put(bytes, id);
  put(bytes, text_hash(bytes));
  std::string out(version);
  encode_base64(std::string_view(bytes).substr(version.size()), base64url_digits, out);
  return out;
}

std::optional<PagerState> read_state(std::string_view text) {
  const auto its_version = text.substr(0, version.size());
  const bool has_count = its_version != version_without_count;
  const bool has_shift = its_version == version;
  if (has_count && !has_shift && its_version != version_of_two_pages) return std::nullopt;
  std::string bytes;
  if (!decode_base64(text.substr(version.size()), bytes)) return std::nullopt;
  const std::size_t fields = 6U + (has_count ? 1 : 0) + (has_shift ? 1 : 0);  // number of state fields before the ids
  if (bytes.size() % 8 != 0 || bytes.size() < (fields + 1) * 8) return std::nullopt;
  const auto count = bytes.size() / 8;
  const auto hashed = std::string(has_count ? its_version : "").append(bytes, 0, bytes.size() - 8);
  if (number_at(bytes, count - 1) != text_hash(hashed)) return std::nullopt;
  // Base64 may encode the same bytes in several ways; only the encoding that write_state() uses is valid.
  std::string same(its_version);
  encode_base64(bytes, base64url_digits, same);
  if (same != text) return std::nullopt;
  PagerState state;
  state.list = number_at(bytes, 0);
  state.page = static_cast<std::int64_t>(number_at(bytes, 1));
  state.seen = static_cast<std::int64_t>(number_at(bytes, 2));
  state.fetched = static_cast<std::int64_t>(number_at(bytes, 3));
  const auto total = static_cast<std::int64_t>(number_at(bytes, 4));
  if (total >= 0) state.total = total;
  const auto reason = number_at(bytes, 5);
  const auto counted = has_count ? static_cast<std::int64_t>(number_at(bytes, 6)) : -1;
  if (counted >= 0) state.counted = counted;
  if (has_shift) state.shift = static_cast<std::int64_t>(number_at(bytes, 7));
  if (state.page < 1 || state.seen < -1 || state.fetched < 0 || counted < -1 || state.shift < 0 ||
      state.shift > most_shift || reason >= reasons.size()) {
    return std::nullopt;
  }
  state.noticed = reasons.at(static_cast<std::size_t>(reason));
  const auto ids = count - 1 - fields;
  state.ids.reserve(ids + 1);
  if (!has_shift && state.fetched > 0 && std::cmp_not_equal(ids, counted)) state.ids.push_back(0);
  for (std::size_t i = 0; i < ids; ++i) state.ids.push_back(number_at(bytes, fields + i));
  return state;
}

}  // namespace billcore::detail
