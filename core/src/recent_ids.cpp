#include "recent_ids.hpp"

#include <algorithm>
#include <utility>

namespace billcore::detail {

// Where the hash is, or would be.
std::size_t RecentIds::place(std::uint64_t hash) const noexcept {
  const auto mask = table_.size() - 1;
  auto at = static_cast<std::size_t>(hash) & mask;
  while (table_[at].page != 0 && table_[at].hash != hash) at = (at + 1) & mask;
  return at;
}

bool RecentIds::contains(std::uint64_t hash) const noexcept { return is_recent(table_[place(hash)]); }

bool RecentIds::add(std::uint64_t hash) {
  if (used_ * 4 >= table_.size() * 3) renew();
  auto& entry = table_[place(hash)];
  const bool is_new = !is_recent(entry);
  used_ += entry.page == 0 ? 1 : 0;
  entry = {hash, page_};
  return is_new;
}

void RecentIds::renew() {
  const auto kept = static_cast<std::size_t>(
      std::count_if(table_.begin(), table_.end(), [this](const Entry& entry) { return is_recent(entry); }));
  const auto old =
      std::exchange(table_, std::vector<Entry>(kept * 2 >= table_.size() ? table_.size() * 2 : table_.size()));
  used_ = kept;
  for (const auto& entry : old) {
    if (is_recent(entry)) table_[place(entry.hash)] = entry;
  }
}

}  // namespace billcore::detail
