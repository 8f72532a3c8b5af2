// Tests how many pages are requested at once, and which pages are requested again because they came too early.
#include "paging/page_plan.hpp"

#include <gtest/gtest.h>

namespace billcore::detail {
namespace {

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
  auto last = plan;
  EXPECT_TRUE(last.must_read_again(Move::grown, 9));

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
