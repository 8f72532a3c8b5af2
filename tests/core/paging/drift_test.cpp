// Tests Drift, which detects that a list changes while it is read. Drift uses only the ids on each page and the list's
// total.
#include "paging/drift.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "billcore/error.hpp"

namespace billcore::detail {
namespace {

constexpr std::size_t window = 18;

// Passes one page of an unchanged list, as ids, to `drift`.
void take(Drift& drift, const Ids& ids) {
  drift.reserve(ids.size(), 0);
  drift.compare(ids, true);
  drift.begin_page(true);
  for (const auto id : ids) {
    if (id == 0 || drift.see(id) == RecentIds::Seen::never) drift.count_record();
  }
}

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

Drift having_read(const Ids& ids, std::int64_t total) {
  Drift drift(window, true);
  take(drift, ids);
  drift.set_total(total);
  return drift;
}

TEST(Drift, AListThatStandsStillDoesNotMove) {
  auto drift = having_read({1, 2}, 4);
  EXPECT_EQ(drift.move_before({3, 4}, 4, false, false), Move::none);
  EXPECT_EQ(drift.noticed(), "");
}

TEST(Drift, AChangedTotalIsNoticed) {
  auto drift = having_read({1, 2}, 4);
  EXPECT_EQ(drift.move_before({3, 4}, 5, false, false), Move::grown);
  EXPECT_EQ(drift.noticed(), "total_changed");
  drift = having_read({1, 2}, 4);
  EXPECT_EQ(drift.move_before({3}, 3, false, false), Move::other);
  EXPECT_EQ(drift.noticed(), "total_changed");
  drift = having_read({1, 2}, 4);
  EXPECT_EQ(drift.move_before({3, 4}, std::nullopt, false, false), Move::none) << "without a count nothing is detected";
}

TEST(Drift, AnIdOfAnotherPageTells) {
  auto drift = having_read({1, 2}, 4);
  EXPECT_EQ(drift.move_before({2, 3}, 4, false, false), Move::other);
  EXPECT_EQ(drift.noticed(), "overlap");
}

TEST(Drift, APageThatIsNoLongerThereTells) {
  auto drift = having_read({1, 2}, 4);
  EXPECT_EQ(drift.move_before({}, 4, true, false), Move::other);
  EXPECT_EQ(drift.noticed(), "list_shrank");
}

TEST(Drift, TheSamePageAgainIsNoMove) {
  auto drift = having_read({1, 2}, 4);
  EXPECT_EQ(drift.move_before({1, 2}, 4, false, false), Move::none);
}

TEST(Drift, InASecondReadingAllIsKnown) {
  auto drift = having_read({1, 2}, 4);
  EXPECT_EQ(drift.move_before({2, 3}, 4, false, true), Move::none);
}

TEST(Drift, TheFirstSignCounts) {
  Drift drift(window, true);
  drift.notice("overlap");
  drift.notice("total_changed");
  EXPECT_EQ(drift.noticed(), "overlap");
}

TEST(Drift, ThreeEqualPagesAreAnError) {
  auto drift = having_read({1, 2}, 4);
  drift.compare({1, 2}, true);
  EXPECT_EQ(drift.noticed(), "repeated_page");
  EXPECT_THROW(drift.compare({1, 2}, true), Error);
}

TEST(Drift, EighteenPagesWithoutNewsAreAnError) {
  auto drift = having_read({1, 2}, 4);
  const auto page = [](int number) { return number % 2 == 0 ? Ids{1} : Ids{2}; };
  for (int i = 0; i < 17; ++i) EXPECT_NO_THROW(drift.compare(page(i), true)) << i;
  EXPECT_THROW(drift.compare(page(17), true), Error);
}

TEST(Drift, PagesWithoutNewsAreRightWhereNoneAreExpected) {
  auto drift = having_read({1, 2}, 4);
  for (int i = 0; i < 100; ++i) EXPECT_NO_THROW(drift.compare(i % 2 == 0 ? Ids{1} : Ids{2}, false)) << i;
}

// Items without an id cannot be distinguished, so two equal pages of such items may have different items.
TEST(Drift, ItemsWithoutIdsAreNotCompared) {
  Drift drift(window, true);
  for (int i = 0; i < 100; ++i) EXPECT_NO_THROW(drift.compare({0, 0}, true)) << i;
  EXPECT_EQ(drift.noticed(), "");
}

TEST(Drift, AnIdTwiceOnAPageIsAnOverlap) {
  Drift drift(window, true);
  drift.begin_page(true);
  EXPECT_EQ(drift.see(7), RecentIds::Seen::never);
  EXPECT_EQ(drift.see(7), RecentIds::Seen::in_this_reading);
  EXPECT_EQ(drift.noticed(), "overlap");
}

TEST(Drift, ComparesItsCountWithTheTotal) {
  auto right = having_read({1, 2}, 2);
  right.compare_count();
  EXPECT_EQ(right.noticed(), "");
  auto wrong = having_read({1, 2}, 3);
  wrong.compare_count();
  EXPECT_EQ(wrong.noticed(), "total_differs");
  Drift uncounted(window, false);
  take(uncounted, {1, 2});
  uncounted.set_total(9);
  uncounted.compare_count();
  EXPECT_EQ(uncounted.noticed(), "") << "the reading did not begin at page 1";
}

TEST(Drift, GoesOnWhereAnotherStopped) {
  Drift drift(window, true);
  drift.resume({1, 2}, 1, "overlap", 4, 1);
  EXPECT_EQ(drift.noticed(), "overlap");
  EXPECT_EQ(drift.counted(), 1);
  EXPECT_EQ(drift.move_before({2, 3}, 4, false, false), Move::none) << "one id of this page was yielded";
  EXPECT_EQ(drift.move_before({2, 3}, 4, false, false), Move::other) << "this is true for the first page only";
  Drift unsure(window, true);
  unsure.resume({1, 2}, -1, "", 3, 2);
  EXPECT_EQ(unsure.move_before({1, 2, 3}, std::nullopt, false, false), Move::none);
}

TEST(Drift, PagesOfAnEarlierProcessAreNoRepetition) {
  Ids yielded(40);
  std::iota(yielded.begin(), yielded.end(), 1);
  Drift drift(window, true);
  drift.resume(yielded, 0, "", 40, 40);
  const auto read = [&](std::uint64_t id) {
    drift.compare({id}, true);
    drift.begin_page(true);
    (void)drift.see(id);
  };
  for (const auto id : yielded) EXPECT_NO_THROW(read(id)) << id;
  for (std::uint64_t i = 0; i < 17; ++i) EXPECT_NO_THROW(read(31 + i % 10)) << i;
  EXPECT_THROW(read(38), Error) << "only once";
}

TEST(Drift, NewRecordsBeforeRememberedOnesMayHaveBeenForgotten) {
  for (const std::uint64_t forgotten : {0, 9}) {
    Drift drift(window, true);
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

TEST(Drift, ASecondReadingDecides) {
  auto drift = having_read({1, 2}, 3);
  drift.compare_count();
  drift.begin_again();
  EXPECT_EQ(drift.noticed(), "");
  EXPECT_EQ(drift.counted(), 0);
  EXPECT_FALSE(drift.total());
  EXPECT_NO_THROW(drift.compare({1, 2}, false));
  EXPECT_EQ(drift.noticed(), "") << "the previous page belongs to another reading";
}

}  // namespace
}  // namespace billcore::detail
