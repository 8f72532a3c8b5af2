// The ids yielded recently. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace billcore::detail {

/// SplitMix64 steps over eight bytes at a time. Must be the same in every build, since states contain the result.
[[nodiscard]] std::uint64_t text_hash(std::string_view text) noexcept;
[[nodiscard]] std::uint64_t number_hash(std::uint64_t number) noexcept;

/// Hashes of the ids of recent pages, to recognise repeated ids. One flat hash table; outdated entries stay until it is
/// rebuilt. (64 bits: a collision within a window is less likely than a memory fault.) Threads: one at a time.
class RecentIds {
 public:
  /// pages: size of the window in pages; 0: all.
  explicit RecentIds(std::size_t pages) : window_(pages) {}

  /// remembered: only before a resume.
  enum class Seen : std::uint8_t { never, remembered, before, in_this_reading };

  /// The following add() calls belong to one reading of a page, which is new or was read before.
  void begin_reading(bool of_new_page) noexcept {
    ++reading_;
    if (of_new_page) ++page_;
  }
  /// Reserves memory: the next `count` calls of add() do not allocate. ahead: how many calls will probably follow them.
  void reserve(std::size_t count, std::size_t ahead = 0) {
    if ((used_ + count) * 4 >= table_.size() * 3) renew(count + ahead);
  }
  /// Was it added before, within the window? Also records it.
  Seen add(std::uint64_t hash);
  [[nodiscard]] Seen find(std::uint64_t hash) const noexcept { return seen(table_[place(hash)]); }
  /// Adds what was yielded before a resume; 0 is left out. It stays recent until it is added again, since a list that has
  /// grown may have any number of pages before it.
  void remember(std::span<const std::uint64_t> hashes);

 private:
  // Small, since the table is most of what a long list takes from the cache.
  struct Entry {
    std::uint64_t hash = 0;
    std::uint32_t page = 0;     // 0: free
    std::uint32_t reading = 0;  // 0: before a resume
  };
  [[nodiscard]] bool is_recent(const Entry& entry) const noexcept {
    return entry.page != 0 && (window_ == 0 || entry.page + window_ > page_);
  }
  [[nodiscard]] Seen seen(const Entry& entry) const noexcept {
    if (!is_recent(entry)) return Seen::never;
    if (entry.reading == 0) return Seen::remembered;
    return entry.reading == reading_ ? Seen::in_this_reading : Seen::before;
  }
  [[nodiscard]] std::size_t place(std::uint64_t hash) const noexcept;
  void renew(std::size_t count);

  static constexpr auto far_ahead = std::uint32_t{1} << 31U;

  std::size_t window_;
  std::uint32_t page_ = 1;
  std::uint32_t reading_ = 0;
  std::size_t used_ = 0;
  std::vector<Entry> table_ = std::vector<Entry>(1);  // the size is a power of two
};

}  // namespace billcore::detail
