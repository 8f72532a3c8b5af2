// Tests the hashes of ids, RecentIds, which remembers the ids of the latest pages, and what a resumed list may have
// forgotten.
#include "paging/recent_ids.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

#include "paging/drift.hpp"

namespace billcore::detail {
namespace {

// The hash function must not change, because users have stored states of lists that contain these hashes.
TEST(RecentIds, TextsHashByEightBytesAtATime) {
  const std::string text = "ord_0123456789 \xC3\xA5\xFF\x80 abcdefghijklmnopqrstuvwxyz";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    std::uint64_t expected = number_hash(size ^ 0x9E3779B97F4A7C15U);
    for (std::size_t at = 0; at < size; at += 8) {
      std::uint64_t bytes = 0;
      for (std::size_t i = at; i < std::min(at + 8, size); ++i) {
        bytes |= std::uint64_t{static_cast<unsigned char>(text[i])} << 8 * (i - at);
      }
      expected = number_hash(expected ^ bytes);
    }
    EXPECT_EQ(text_hash(std::string_view(text).substr(0, size)), expected) << size;
  }
  EXPECT_EQ(text_hash("ord_1"), 0x48AAC4E1A59A6BB5U);
}

TEST(RecentIds, AgreeWithAModelThatForgetsNothing) {
  struct Known {
    std::uint64_t page = 0;
    std::uint64_t reading = 0;  // 0: the id was known before a resume
  };
  std::mt19937 random(20261125);
  std::array<int, 4> counts{};
  for (const std::size_t pages : {0U, 1U, 3U, 19U}) {
    RecentIds ids(pages);
    std::map<std::uint64_t, Known> model;
    std::vector<std::uint64_t> before{0};
    for (std::uint64_t id = 1; id <= 300; ++id) before.push_back(number_hash(id));
    ids.remember(before);
    for (std::size_t i = 1; i < before.size(); ++i) model[before[i]] = {};
    std::uint64_t page = 1;
    std::uint64_t reading = 0;
    const auto expected = [&](std::uint64_t hash) {
      const auto found = model.find(hash);
      if (found == model.end()) return RecentIds::Seen::never;
      if (found->second.reading == 0) return RecentIds::Seen::remembered;
      if (pages != 0 && found->second.page + pages <= page) return RecentIds::Seen::never;
      return found->second.reading == reading ? RecentIds::Seen::in_this_reading : RecentIds::Seen::before;
    };
    std::uint64_t next = 250;
    for (int round = 0; round < 1500; ++round) {
      const bool of_new_page = random() % 8 != 0;
      ids.reserve(20, random() % 100);
      ids.begin_reading(of_new_page);
      page += of_new_page ? 1 : 0;
      ++reading;
      for (int i = 0; i < 20; ++i) {
        const auto hash = number_hash(random() % 4 == 0 ? 1 + random() % next : ++next);
        ASSERT_EQ(ids.find(hash), expected(hash)) << pages << ' ' << round;
        const auto seen = ids.add(hash);
        ASSERT_EQ(seen, expected(hash)) << pages << ' ' << round;
        ++counts[static_cast<std::size_t>(seen)];
        model[hash] = {page, reading};
      }
    }
  }
  for (const auto count : counts) EXPECT_GT(count, 20);
}

TEST(Drift, NewRecordsBeforeRememberedOnesMayHaveBeenForgotten) {
  for (const std::uint64_t forgotten : {0, 9}) {
    Drift drift(18, true);
    drift.resume({forgotten, 1, 2}, 0, "overlap", 3, 3);
    drift.begin_page(true);
    EXPECT_EQ(drift.see(1), RecentIds::Seen::remembered);
    EXPECT_EQ(drift.see(5), RecentIds::Seen::never);
    EXPECT_EQ(drift.noticed(), "overlap");
    EXPECT_EQ(drift.see(2), RecentIds::Seen::remembered);
    EXPECT_EQ(drift.noticed(), forgotten == 0 ? "may_repeat" : "overlap");
    drift.notice("list_shrank");
    EXPECT_EQ(drift.noticed(), forgotten == 0 ? "may_repeat" : "overlap");
  }
}

}  // namespace
}  // namespace billcore::detail
