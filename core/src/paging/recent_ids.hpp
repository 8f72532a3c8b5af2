// Remembers the ids of the records that were yielded recently. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace billcore::detail {

/// Hashes a text with SplitMix64 steps over eight bytes at a time. A text must have the same hash in every build, since
/// the states of lists contain hashes.
[[nodiscard]] std::uint64_t text_hash(std::string_view text) noexcept;
[[nodiscard]] std::uint64_t number_hash(std::uint64_t number) noexcept;

/// Hashes of the ids of recent pages, to recognise repeated ids. (The hashes have 64 bits, so a collision of two hashes
/// within a window is less likely than a memory fault.) Uses two hash tables in turn: when the newer table has the ids
/// of a whole window, all ids of the older table are outdated, so the older table is cleared and becomes the newer one.
/// Threads: one at a time.
class RecentIds {
 public:
  /// `pages` is the size of the window in pages; 0 means all pages.
  explicit RecentIds(std::size_t pages) : window_(pages) {}

  /// Time at which an id was last added; `remembered` means before the list was resumed.
  enum class Seen : std::uint8_t { never, remembered, before, in_this_reading };

  /// Call begin_reading() before add() is called for the ids of a page. `of_new_page` says that the page was not read
  /// before.
  void begin_reading(bool of_new_page) noexcept {
    ++reading_;
    if (of_new_page) ++page_;
  }
  /// Reserves memory: the next `count` calls of add() do not allocate. `ahead` is the number of calls of add() that
  /// will probably follow the first `count` calls.
  void reserve(std::size_t count, std::size_t ahead = 0) {
    if (window_ != 0 && page_ >= since_ + window_) take_turns();
    newer_.reserve(count, ahead);
  }
  /// Records an id. Returns when the id was last added before this call; `never` if it was not added within the window.
  Seen add(std::uint64_t hash);
  [[nodiscard]] Seen find(std::uint64_t hash) const noexcept;
  /// Adds the ids that were yielded before a resume, except 0. Such an id does not expire with the window: since the
  /// stop, any number of pages may have been added to the list, so the id may come much later. When add() has recorded
  /// the id once more, it expires like others.
  void remember(std::span<const std::uint64_t> hashes);

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::uint32_t page = 0;     // 0: free
    std::uint32_t reading = 0;  // 0: added before a resume
  };

  /// A hash table that is at most half full, with a filter that rejects nearly all unknown hashes. The filter fits
  /// into the processor's smallest cache; the table does not.
  class Table {
   public:
    void reserve(std::size_t count, std::size_t ahead) {
      if ((used_ + count) * 2 > entries_.size()) grow((used_ + count + ahead) * 2);
    }
    [[nodiscard]] Entry* find(std::uint64_t hash) noexcept {
      return (filter_[word_of(hash)] >> (hash >> 58U) & 1U) == 0 ? nullptr : look_up(hash);
    }
    /// Adds or replaces an entry. Call reserve() before, because put() does not grow the table.
    void put(const Entry& entry) noexcept;
    void clear() noexcept;

   private:
    [[nodiscard]] std::size_t word_of(std::uint64_t hash) const noexcept { return hash >> 32U & (filter_.size() - 1); }
    [[nodiscard]] Entry& place_of(std::uint64_t hash) noexcept;
    [[nodiscard]] Entry* look_up(std::uint64_t hash) noexcept;
    void grow(std::size_t room);

    // The sizes of entries_ and filter_ are powers of two.
    std::vector<Entry> entries_ = std::vector<Entry>(1);
    std::vector<std::uint64_t> filter_ = std::vector<std::uint64_t>(1);
    std::size_t used_ = 0;
  };

  [[nodiscard]] Entry* newest(std::uint64_t hash) noexcept;
  [[nodiscard]] Seen seen(const Entry& entry) const noexcept {
    if (window_ != 0 && entry.page + window_ <= page_) return Seen::never;
    if (entry.reading == 0) return Seen::remembered;
    return entry.reading == reading_ ? Seen::in_this_reading : Seen::before;
  }
  void take_turns() noexcept;

  static constexpr auto far_ahead = std::uint32_t{1} << 31U;

  std::size_t window_;
  std::uint32_t page_ = 1;
  std::uint32_t reading_ = 0;
  std::size_t since_ = 1;  // the first page whose ids are in the newer table
  Table newer_;
  Table older_;
  Table remembered_;
};

}  // namespace billcore::detail
