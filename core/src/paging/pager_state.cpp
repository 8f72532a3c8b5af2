#include "paging/pager_state.hpp"

#include <algorithm>
#include <array>

#include "base/encoding.hpp"
#include "paging/recent_ids.hpp"

namespace billcore::detail {
namespace {

constexpr std::string_view version = "p2.";
constexpr std::string_view version_without_count = "p1.";

// A state stores the index; append-only.
constexpr std::array<std::string_view, 9> reasons{
    "",        "total_changed", "overlap",          "repeated_page", "list_shrank",
    "stopped", "total_differs", "undecodable_item", "no_total"};

void put(std::string& out, std::uint64_t number) {
  for (unsigned shift = 0; shift < 64; shift += 8) out.push_back(static_cast<char>(number >> shift & 0xFFU));
}

std::uint64_t number_at(std::string_view bytes, std::size_t index) noexcept {
  std::uint64_t number = 0;
  for (unsigned i = 0; i < 8; ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(bytes[index * 8 + i])} << (8 * i);
  }
  return number;
}

}  // namespace

std::string write_state(const PagerState& state) {
  std::string bytes;
  put(bytes, state.list);
  put(bytes, static_cast<std::uint64_t>(state.page));
  put(bytes, static_cast<std::uint64_t>(state.seen));
  put(bytes, static_cast<std::uint64_t>(state.fetched));
  put(bytes, static_cast<std::uint64_t>(state.total.value_or(-1)));
  const auto* const reason = std::find(reasons.begin(), reasons.end(), state.noticed);
  put(bytes, static_cast<std::uint64_t>(reason - reasons.begin()) % reasons.size());
  put(bytes, static_cast<std::uint64_t>(state.counted.value_or(-1)));
  for (const auto id : state.ids) put(bytes, id);
  put(bytes, text_hash(std::string(version) + bytes));
  std::string out(version);
  encode_base64(bytes, base64url_digits, out);
  return out;
}

std::optional<PagerState> read_state(std::string_view text) {
  std::string bytes;
  const bool has_count = text.starts_with(version);
  const auto its_version = has_count ? version : version_without_count;
  if (!text.starts_with(its_version) || !decode_base64(text.substr(its_version.size()), bytes)) return std::nullopt;
  const std::size_t fields = has_count ? 7 : 6;  // before the ids
  if (bytes.size() % 8 != 0 || bytes.size() < (fields + 1) * 8) return std::nullopt;
  const auto count = bytes.size() / 8;
  const auto hashed = (has_count ? std::string(version) : std::string()).append(bytes, 0, bytes.size() - 8);
  if (number_at(bytes, count - 1) != text_hash(hashed)) return std::nullopt;
  // Base64 may encode the same bytes in several ways; only one is a valid state.
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
  if (state.page < 1 || state.seen < -1 || state.fetched < 0 || counted < -1 || reason >= reasons.size())
    return std::nullopt;
  state.noticed = reasons.at(static_cast<std::size_t>(reason));
  for (std::size_t i = fields; i + 1 < count; ++i) state.ids.push_back(number_at(bytes, i));
  return state;
}

}  // namespace billcore::detail
