// Which ids were yielded lately. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace billcore::detail {

/// Steps of splitmix64 over eight bytes at a time; the same in every build, since states hold it.
[[nodiscard]] std::uint64_t text_hash(std::string_view text) noexcept;
[[nodiscard]] std::uint64_t number_hash(std::uint64_t number) noexcept;

/// Hashes of the ids of the last pages, so that an id seen again is told from a new one. One flat table: what has become old
/// is left in it until the table is made anew. (64 bits: that two ids of a window are taken for one is less likely than a
/// fault of the memory they are in.) Threads: one at a time.
class RecentIds {
 public:
  /// pages: how many of the last pages count; 0: all.
  explicit RecentIds(std::size_t pages) : window_(pages) {}

  enum class Seen : std::uint8_t { never, before, in_this_reading };

  /// What is added from now on comes from one reading of a page, which is a new one or was read before.
  void begin_reading(bool of_new_page) noexcept {
    ++reading_;
    if (of_new_page) ++page_;
  }
  /// Makes room: the next `count` calls of add() allocate nothing.
  void reserve(std::size_t count) {
    if ((used_ + count) * 4 >= table_.size() * 3) renew(count);
  }
  /// Was it added before, within the window? It is remembered either way.
  Seen add(std::uint64_t hash);
  [[nodiscard]] bool contains(std::uint64_t hash) const noexcept;

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::uint64_t page = 0;  // 0: free
    std::uint64_t reading = 0;
  };
  [[nodiscard]] bool is_recent(const Entry& entry) const noexcept {
    return entry.page != 0 && (window_ == 0 || entry.page + window_ > page_);
  }
  [[nodiscard]] std::size_t place(std::uint64_t hash) const noexcept;
  void renew(std::size_t count);

  std::size_t window_;
  std::uint64_t page_ = 1;
  std::uint64_t reading_ = 0;
  std::size_t used_ = 0;
  std::vector<Entry> table_ = std::vector<Entry>(1024);  // its size is a power of two
};

}  // namespace billcore::detail
