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

std::uint64_t text_hash(std::string_view text) noexcept {
  std::uint64_t hash = number_hash(text.size() ^ 0x9E3779B97F4A7C15U);
  while (!text.empty()) {
    const auto piece = text.substr(0, 8);
    std::uint64_t bytes = 0;
    if (piece.size() == 8) {
      std::memcpy(&bytes, piece.data(), 8);
      if constexpr (std::endian::native == std::endian::big) bytes = __builtin_bswap64(bytes);
    } else {
      for (std::size_t i = 0; i < piece.size(); ++i)
        bytes |= std::uint64_t{static_cast<unsigned char>(piece[i])} << 8 * i;
    }
    hash = number_hash(hash ^ bytes);
    text.remove_prefix(piece.size());
  }
  return hash;
}

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
  auto room = kept * 3 >= table_.size() ? table_.size() * 2 : table_.size();
  while ((kept + count) * 4 >= room * 3) room *= 2;
  const auto old = std::exchange(table_, std::vector<Entry>(room));
  used_ = kept;
  for (const auto& entry : old) {
    if (is_recent(entry)) table_[place(entry.hash)] = entry;
  }
}

}  // namespace billcore::detail
