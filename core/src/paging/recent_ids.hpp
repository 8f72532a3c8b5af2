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

/// Hashes of the ids of recent pages, to recognise repeated ids. (64 bits: a collision within a window is less likely
/// than a memory fault.) Two hash tables take turns: when the newer one has the ids of a whole window, those of the older
/// one are outdated, and it is emptied at once. Threads: one at a time.
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
    if (window_ != 0 && page_ >= since_ + window_) take_turns();
    newer_.reserve(count, ahead);
  }
  /// Was it added before, within the window? Also records it.
  Seen add(std::uint64_t hash);
  [[nodiscard]] Seen find(std::uint64_t hash) const noexcept;
  /// Adds what was yielded before a resume; 0 is left out. It stays recent until it is added again, since a list that has
  /// grown may have any number of pages before it.
  void remember(std::span<const std::uint64_t> hashes);

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::uint32_t page = 0;     // 0: free
    std::uint32_t reading = 0;  // 0: before a resume
  };

  /// At most half full. Before it is a filter, which nearly all new hashes do not pass: it fits into the processor's
  /// smallest cache, which the table does not.
  class Table {
   public:
    void reserve(std::size_t count, std::size_t ahead) {
      if ((used_ + count) * 2 > entries_.size()) grow((used_ + count + ahead) * 2);
    }
    [[nodiscard]] Entry* find(std::uint64_t hash) noexcept {
      return (filter_[word_of(hash)] >> (hash >> 58U) & 1U) == 0 ? nullptr : look_up(hash);
    }
    /// Needs room for it, or an entry with the same hash.
    void put(const Entry& entry) noexcept;
    void clear() noexcept;

   private:
    [[nodiscard]] std::size_t word_of(std::uint64_t hash) const noexcept { return hash >> 32U & (filter_.size() - 1); }
    [[nodiscard]] Entry& place_of(std::uint64_t hash) noexcept;
    [[nodiscard]] Entry* look_up(std::uint64_t hash) noexcept;
    void grow(std::size_t room);

    // The sizes are powers of two.
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
