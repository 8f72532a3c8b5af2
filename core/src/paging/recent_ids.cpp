#include "paging/recent_ids.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace billcore::detail {

std::uint64_t number_hash(std::uint64_t number) noexcept {
  number = (number ^ number >> 30U) * 0xBF58476D1CE4E5B9U;
  number = (number ^ number >> 27U) * 0x94D049BB133111EBU;
  return number ^ number >> 31U;
}

namespace {

template <typename Number>
std::uint64_t load(const char* bytes) noexcept {  // little-endian
  Number out = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&out, bytes, sizeof out);
  } else {
    for (std::size_t i = 0; i < sizeof out; ++i) out |= Number{static_cast<unsigned char>(bytes[i])} << 8 * i;
  }
  return out;
}

// Returns the last 1 to 7 bytes of a text, without a loop.
std::uint64_t load_rest(std::string_view text, std::size_t count) noexcept {
  const char* const end = text.data() + text.size();
  if (text.size() >= 8) return load<std::uint64_t>(end - 8) >> 8 * (8 - count);
  if (count >= 4) return load<std::uint32_t>(text.data()) | load<std::uint32_t>(end - 4) << 8 * (count - 4);
  const auto byte = [&text](std::size_t at) { return load<std::uint8_t>(text.data() + at) << 8 * at; };
  return byte(0) | byte(count / 2) | byte(count - 1);
}

}  // namespace

std::uint64_t text_hash(std::string_view text) noexcept {
  std::uint64_t hash = number_hash(text.size() ^ 0x9E3779B97F4A7C15U);
  const auto rest = text.size() % 8;
  for (std::size_t at = 0; at + rest < text.size(); at += 8) {
    hash = number_hash(hash ^ load<std::uint64_t>(text.data() + at));
  }
  return rest == 0 ? hash : number_hash(hash ^ load_rest(text, rest));
}

RecentIds::Entry& RecentIds::Table::place_of(std::uint64_t hash) noexcept {
  const auto mask = entries_.size() - 1;
  auto at = static_cast<std::size_t>(hash) & mask;
  while (entries_[at].page != 0 && entries_[at].hash != hash) at = (at + 1) & mask;
  return entries_[at];
}

RecentIds::Entry* RecentIds::Table::look_up(std::uint64_t hash) noexcept {
  auto& entry = place_of(hash);
  return entry.page == 0 ? nullptr : &entry;
}

void RecentIds::Table::put(const Entry& entry) noexcept {
  auto& place = place_of(entry.hash);
  used_ += place.page == 0 ? 1 : 0;
  place = entry;
  filter_[word_of(entry.hash)] |= std::uint64_t{1} << (entry.hash >> 58U);
}

void RecentIds::Table::clear() noexcept {
  std::fill(entries_.begin(), entries_.end(), Entry());
  std::fill(filter_.begin(), filter_.end(), 0U);
  used_ = 0;
}

void RecentIds::Table::grow(std::size_t room) {
  constexpr std::size_t least_room = 256;
  constexpr std::size_t entries_of_a_word = 4;  // then 3 % of the unknown hashes pass the filter of a full table
  room = std::bit_ceil(std::max(least_room, room));
  Table larger;
  larger.entries_.resize(room);
  larger.filter_.resize(room / entries_of_a_word);
  for (const auto& entry : entries_) {
    if (entry.page != 0) larger.put(entry);
  }
  *this = std::move(larger);
}

RecentIds::Entry* RecentIds::newest(std::uint64_t hash) noexcept {
  if (auto* const found = newer_.find(hash)) return found;
  if (auto* const found = older_.find(hash)) return found;
  return remembered_.find(hash);
}

RecentIds::Seen RecentIds::find(std::uint64_t hash) const noexcept {
  const auto* const found = const_cast<RecentIds*>(this)->newest(hash);
  return found == nullptr ? Seen::never : seen(*found);
}

RecentIds::Seen RecentIds::add(std::uint64_t hash) {
  newer_.reserve(1, 0);
  const Entry entry{hash, page_, reading_};
  auto before = Seen::never;
  if (auto* const found = newest(hash)) {
    before = seen(*found);
    *found = entry;  // lets an id from before a resume expire like other ids
  }
  newer_.put(entry);
  return before;
}

void RecentIds::remember(std::span<const std::uint64_t> hashes) {
  remembered_.reserve(hashes.size(), 0);
  for (const auto hash : hashes) {
    if (hash != 0) remembered_.put({hash, far_ahead, 0});
  }
}

void RecentIds::take_turns() noexcept {
  std::swap(newer_, older_);
  newer_.clear();
  since_ = std::size_t{page_} + 1;
}

}  // namespace billcore::detail
