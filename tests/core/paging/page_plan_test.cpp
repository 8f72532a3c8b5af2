// Tests which page is requested next, independent of the content of the pages.
#include "paging/page_plan.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace billcore::detail {
namespace {

// Reads an unchanging list to its end; returns the page numbers in the order of reading.
std::vector<std::int64_t> read_to_end(PagePlan& plan, std::int64_t last) {
  std::vector<std::int64_t> out;
  while (const auto wanted = plan.wanted(true)) {
    plan.fetching();
    plan.came(last);
    EXPECT_FALSE(plan.must_read_again(Move::none, wanted->page));
    plan.speed_up();
    out.push_back(wanted->page);
    static_cast<void>(plan.take(wanted->page));
    if (!plan.go_on()) plan.end();
    if (out.size() > 100) break;
  }
  return out;
}

TEST(PagePlan, ReadsThePagesInOrderToTheLast) {
  for (const std::int64_t concurrency : {0, 1, 8}) {
    PagePlan plan(1, concurrency);
    EXPECT_EQ(read_to_end(plan, 4), (std::vector<std::int64_t>{1, 2, 3, 4}));
    EXPECT_TRUE(plan.has_ended());
    EXPECT_FALSE(plan.wanted(true));
    EXPECT_FALSE(plan.ahead(true));
  }
}

TEST(PagePlan, BeginsWhereItIsToldTo) {
  PagePlan third(3, 1);
  EXPECT_EQ(read_to_end(third, 4), (std::vector<std::int64_t>{3, 4}));
  PagePlan resumed(1, 1);
  resumed.resume_at(2);
  EXPECT_EQ(read_to_end(resumed, 3), (std::vector<std::int64_t>{2, 3}));
}

TEST(PagePlan, AsksForMoreOnlyWhenThatIsAllowed) {
  PagePlan plan(1, 8);
  EXPECT_EQ(plan.wanted(false)->count, 1);
  EXPECT_FALSE(plan.ahead(false));
  plan.came(20);
  static_cast<void>(plan.take(1));
  ASSERT_TRUE(plan.go_on());
  const auto ahead = plan.ahead(true);
  ASSERT_TRUE(ahead);
  EXPECT_EQ(ahead->page, 2);
  EXPECT_EQ(ahead->last, 20);
  EXPECT_EQ(ahead->count, 8);
  EXPECT_FALSE(PagePlan(1, 1).ahead(true));
}

// Pages 2 to 9 are prefetched once page 1 has arrived. If the list grows after the prefetch, the prefetched pages are
// out of date, and the plan requests them again. Page 10 was not prefetched, so it needs no second request.
TEST(PagePlan, AsksAnewForWhatCameTooEarly) {
  PagePlan plan(1, 8);
  plan.came(20);
  static_cast<void>(plan.take(1));
  ASSERT_TRUE(plan.go_on());
  plan.announced(*plan.ahead(true));
  EXPECT_TRUE(plan.has_announced());

  auto behind = plan;
  EXPECT_FALSE(behind.must_read_again(Move::grown, 10));

  ASSERT_TRUE(plan.must_read_again(Move::grown, 2));
  const auto wanted = plan.wanted(true);
  EXPECT_EQ(wanted->page, 2);
  EXPECT_EQ(wanted->count, 1) << "one after the other while it moves";
  EXPECT_TRUE(wanted->anew);
  EXPECT_FALSE(plan.has_announced());
  plan.fetching();
  EXPECT_FALSE(plan.wanted(true)->anew);
  EXPECT_FALSE(plan.must_read_again(Move::grown, 2)) << "once";
}

TEST(PagePlan, ReadsThePageBeforeABorderAgain) {
  PagePlan plan(1, 1);
  plan.came(5);
  static_cast<void>(plan.take(1));
  ASSERT_TRUE(plan.go_on());
  ASSERT_TRUE(plan.must_read_again(Move::other, 2));
  EXPECT_TRUE(plan.is_rereading());
  EXPECT_EQ(plan.due(), 1);
  EXPECT_FALSE(plan.take(1)) << "it is not a new page";
  ASSERT_TRUE(plan.go_on());
  EXPECT_FALSE(plan.is_rereading());
  EXPECT_EQ(plan.due(), 2);
  EXPECT_FALSE(plan.must_read_again(Move::other, 2)) << "once";
  EXPECT_TRUE(plan.take(2));
}

TEST(PagePlan, TheFirstPageHasNoBorder) {
  PagePlan plan(1, 1);
  EXPECT_FALSE(plan.must_read_again(Move::other, 1));
}

TEST(PagePlan, EndsWhenTheListShrankToBeforeTheBorder) {
  PagePlan plan(1, 1);
  for (std::int64_t page = 1; page <= 3; ++page) {
    plan.came(5);
    static_cast<void>(plan.take(page));
    ASSERT_TRUE(plan.go_on());
  }
  plan.came(3);  // the answer to the request for page 4 states that the list has only 3 pages
  ASSERT_TRUE(plan.must_read_again(Move::other, 4));
  plan.came(3);
  static_cast<void>(plan.take(3));
  EXPECT_FALSE(plan.go_on());
}

TEST(PagePlan, SpeedsUpAgainStepByStep) {
  PagePlan plan(1, 8);
  plan.came(50);
  static_cast<void>(plan.take(1));
  ASSERT_TRUE(plan.go_on());
  ASSERT_TRUE(plan.must_read_again(Move::other, 2));
  static_cast<void>(plan.take(1));
  ASSERT_TRUE(plan.go_on());
  for (const std::int64_t count : {2, 4, 8, 8}) {
    plan.speed_up();
    EXPECT_EQ(plan.ahead(true)->count, count);
  }
}

TEST(PagePlan, BeginsAgainAtItsFirstPage) {
  PagePlan plan(2, 1);
  plan.came(2);
  static_cast<void>(plan.take(2));
  ASSERT_FALSE(plan.go_on());
  plan.begin_again();
  EXPECT_EQ(plan.wanted(false)->page, 2);
  EXPECT_TRUE(plan.wanted(false)->anew);
}

}  // namespace
}  // namespace billcore::detail
