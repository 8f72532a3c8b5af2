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

// The last 1 to 7 bytes of a text, without a loop.
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

namespace {

constexpr std::size_t least_room = 256;

}  // namespace

// Index of the hash, or of the free entry for it.
std::size_t RecentIds::place(std::uint64_t hash) const noexcept {
  const auto mask = table_.size() - 1;
  auto at = static_cast<std::size_t>(hash) & mask;
  while (table_[at].page != 0 && table_[at].hash != hash) at = (at + 1) & mask;
  return at;
}

RecentIds::Seen RecentIds::add(std::uint64_t hash) {
  reserve(1);
  auto& entry = table_[place(hash)];
  const auto before = seen(entry);
  used_ += entry.page == 0 ? 1 : 0;
  entry = {hash, page_, reading_};
  return before;
}

void RecentIds::remember(std::span<const std::uint64_t> hashes) {
  reserve(hashes.size());
  for (const auto hash : hashes) {
    if (hash == 0) continue;
    auto& entry = table_[place(hash)];
    used_ += entry.page == 0 ? 1 : 0;
    entry = {hash, far_ahead, 0};
  }
}

void RecentIds::renew(std::size_t count) {
  const auto kept = static_cast<std::size_t>(
      std::count_if(table_.begin(), table_.end(), [this](const Entry& entry) { return is_recent(entry); }));
  // So large that it is not renewed again soon.
  const auto room = std::bit_ceil(std::max({least_room, kept * 3, (kept + count) * 3 / 2}));
  const auto old = std::exchange(table_, std::vector<Entry>(room));
  used_ = kept;
  for (const auto& entry : old) {
    if (is_recent(entry)) table_[place(entry.hash)] = entry;
  }
}

}  // namespace billcore::detail
