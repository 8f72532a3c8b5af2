// Tests the pager's rules with pages that the test makes, without a network.
#include "billcore/pager.hpp"

#include <gtest/gtest.h>

#include "billcore/error.hpp"
#include "paging/pager_core.hpp"
#include "support/json_text.hpp"
#include "support/pages.hpp"

namespace billcore {
namespace {

using test::document;
using test::ids;
using test::Item;
using test::Made;
using test::made_pager;
using test::Numbers;
using test::Script;
using test::Texts;

TEST(Pager, LazyAndInOrder) {
  Script list{{{{"1", "2"}, 1, 3, 5}, {{"3", "4"}, 2, 3, 5}, {{"5"}, 3, 3, 5}}};
  auto pager = list.pager();
  EXPECT_TRUE(list.asked.empty());
  EXPECT_FALSE(pager.total());
  EXPECT_EQ(pager.next()->id(), Id(1));
  EXPECT_EQ(pager.next()->id(), Id(2));
  EXPECT_EQ(list.asked, Numbers{1});
  EXPECT_FALSE(pager.verdict());
  EXPECT_EQ(ids(pager), (Texts{"3", "4", "5"}));
  EXPECT_EQ(list.asked, (Numbers{1, 2, 3}));
  EXPECT_EQ(pager.total(), 5);
  EXPECT_EQ(pager.fetched_pages(), 3);
  EXPECT_TRUE(pager.verdict()->complete);
  EXPECT_FALSE(pager.next());
  EXPECT_EQ(list.asked.size(), 3U);
}

TEST(Pager, TheVerdictWaitsForTheLastItem) {
  Script list{{{{"1"}, 1, 2, 3}, {{"2", "3"}, 2, 2, 3}}};
  auto pager = list.pager();
  for (const int id : {1, 2}) {
    EXPECT_EQ(pager.next()->id(), Id(id));
    EXPECT_FALSE(pager.verdict()) << id;
  }
  pager.stop();
  EXPECT_EQ(pager.verdict()->reason, "stopped");
  EXPECT_TRUE(pager.next());
  EXPECT_TRUE(pager.verdict()->complete);
}

TEST(Pager, BeginsAtThePageAskedFor) {
  Script list{{{{"3"}, 2, 3, 4}, {{"4"}, 3, 3, 4}}};
  auto pager = list.pager(2);
  EXPECT_EQ(ids(pager), (Texts{"3", "4"}));
  EXPECT_EQ(list.asked, (Numbers{2, 3}));
  Script none{{{{}, 99, 3, 4}}};
  auto beyond = none.pager(99);
  EXPECT_FALSE(beyond.first());
  EXPECT_EQ(ids(beyond), Texts{});
  EXPECT_TRUE(beyond.verdict()->complete);
  EXPECT_THROW(list.pager(0), Error);
}

TEST(Pager, NextPageGivesTheUnreadRest) {
  Script list{{{{"1", "2", "3"}, 1, 2, 4}, {{"4"}, 2, 2, 4}}};
  auto pager = list.pager();
  (void)pager.next();
  const auto rest = pager.next_page();
  EXPECT_EQ(rest->items().size(), 2U);
  EXPECT_EQ(rest->items().front().id(), Id(2));
  EXPECT_EQ(rest->total_pages(), 2);
  EXPECT_EQ(rest->links().next(), "https://elsewhere.example/");
  EXPECT_FALSE(rest->links().previous());
  EXPECT_EQ(pager.next_page()->current_page(), 2);
  EXPECT_FALSE(pager.next_page());
  EXPECT_TRUE(pager.verdict()->complete);
}

TEST(Pager, StoppingEarlyIsSaid) {
  Script list{{{{"1", "2"}, 1, 2, 3}, {{"3"}, 2, 2, 3}}};
  auto pager = list.pager();
  for (const auto& item : pager) {
    if (item.id() == Id(1)) break;
  }
  EXPECT_EQ(pager.verdict()->reason, "stopped");
  EXPECT_EQ(pager.collect(1).size(), 1U);
  EXPECT_EQ(pager.verdict()->reason, "stopped");
  EXPECT_EQ(ids(pager), Texts{"3"});
  EXPECT_TRUE(pager.verdict()->complete);
}

TEST(Pager, NumbersAndTextsAreDifferentIds) {
  // An item without an id is always yielded.
  Script kinds{{{{"7", "\"7\"", "null"}, 1, 2, 6}, {{"null", "8"}, 2, 2, 6}}};
  EXPECT_EQ(kinds.pager().collect().size(), 5U);
}

TEST(Pager, AListThatShrankMayAnswerWithItsLastPage) {
  Script clamped{{{{"1", "2"}, 1, 3, 6}, {{"1", "2"}, 1, 1, 2}, {{"1", "2"}, 1, 1, 2}}};
  auto pager = clamped.pager();
  EXPECT_EQ(ids(pager), (Texts{"1", "2"}));
  EXPECT_EQ(pager.verdict()->reason, "list_shrank");
}

TEST(Pager, ItemsWithoutIdsAreNoRepetition) {
  Script list{{{{"null"}, 1, 4, 4}, {{"null"}, 2, 4, 4}, {{"null"}, 3, 4, 4}, {{"null"}, 4, 4, 4}}};
  EXPECT_EQ(list.pager().collect().size(), 4U);
}

TEST(Pager, TheLargestPageNumber) {
  Script list{{{{"1"}, INT64_MAX, INT64_MAX, 1}}};
  EXPECT_EQ(list.pager(INT64_MAX).collect().size(), 1U);
}

TEST(Pager, ARefusedPageLeavesNothingBehind) {
  Script list{{{{"1"}, 1, 9, 9}, {{"1"}, 2, 9, 9}, {{"1"}, 3, 9, 9}, {{"1"}, 3, 9, 9}, {{"2"}, 3, 3, 9}}};
  auto pager = list.pager();
  EXPECT_EQ(pager.next()->id(), Id(1));
  EXPECT_THROW((void)pager.next(), Error);
  EXPECT_FALSE(pager.buffered());
  EXPECT_THROW((void)pager.next_page(), Error);  // the error must be thrown again; no empty page may be returned
  const auto page = pager.next_page();
  EXPECT_EQ(page->current_page(), 3);
  EXPECT_EQ(page->items().size(), 1U);
  EXPECT_EQ(list.asked, (Numbers{1, 2, 3, 3, 3}));
}

TEST(Pager, ARefusedPageTakesNothingFromTheState) {
  Script list{{{{"1"}, 1, 9, 9}, {{"2"}, 2, 9, 9}}};
  for (int i = 0; i < 4; ++i) list.pages.push_back({{"2"}, i == 0 ? 3 : 4, 9, 9});
  auto pager = list.pager();
  EXPECT_EQ(pager.next()->id(), Id(1));
  EXPECT_EQ(pager.next()->id(), Id(2));
  for (int i = 0; i < 3; ++i) EXPECT_THROW((void)pager.next(), Error);
  const auto state = pager.state();
  auto rest = made_pager([](std::int64_t number) { return document({{"2", "3"}, number, 4, 9}); }, {.resume = state});
  EXPECT_EQ(ids(rest), Texts{"3"});
}

TEST(Pager, TheStateBetweenTwoReadingsOfABorder) {
  // Between two requests the service deletes "1", which moves "3" to page 1. The pager must read page 1 again, and this
  // request fails.
  Script list{{{{"1", "2"}, 1, 2, 4}, {{"4"}, 2, 2, 3}}};
  auto pager = list.pager();
  EXPECT_EQ(pager.next()->id(), Id(1));
  EXPECT_EQ(pager.next()->id(), Id(2));
  EXPECT_THROW((void)pager.next(), std::runtime_error);
  Script later{{{{"2", "3"}, 1, 2, 3}, {{"4"}, 2, 2, 3}}};
  const auto state = pager.state();
  auto rest = later.resumed(state);
  EXPECT_EQ(ids(rest), (Texts{"3", "4"}));
  EXPECT_EQ(later.asked, (Numbers{1, 2}));
  EXPECT_FALSE(rest.verdict()->complete);
}

TEST(Pager, AListThatMovedBetweenTwoLives) {
  struct Case {
    std::size_t taken;
    std::vector<Made> later;
    Texts rest;
    const char* reason;
  };
  const Made same_second{{"3", "4"}, 2, 3, 6};
  const Made same_third{{"5", "6"}, 3, 3, 6};
  // The total never changes: when the list changes, one record is added at its head and another one is deleted.
  for (const auto& each : std::vector<Case>{
           {0, {{{"1", "2"}, 1, 3, 6}, same_second, same_third}, {"1", "2", "3", "4", "5", "6"}, ""},
           {0,
            {{{"1", "2"}, 1, 3, 6}, {{"2", "3"}, 2, 3, 6}, {{"1", "2"}, 1, 3, 6}, {{"2", "3"}, 2, 3, 6}, same_third},
            {"1", "2", "3", "5", "6"},
            "overlap"},
           {2, {same_second, same_third}, {"3", "4", "5", "6"}, ""},
           {3, {same_second, same_third}, {"4", "5", "6"}, ""},
           {3,
            {{{"2", "3"}, 2, 3, 6}, {{"0", "1"}, 1, 3, 6}, {{"2", "3"}, 2, 3, 6}, same_third},
            {"0", "5", "6"},
            "overlap"},
           {3,
            {{{"4", "5"}, 2, 3, 6}, {{"2", "3"}, 1, 3, 6}, {{"4", "5"}, 2, 3, 6}, {{"6", "7"}, 3, 3, 6}},
            {"4", "5", "6", "7"},
            "overlap"},
           {4, {{{"4", "5"}, 3, 3, 6}, {{"2", "3"}, 2, 3, 6}, {{"4", "5"}, 3, 3, 6}}, {"5"}, "overlap"},
           {6, {same_third}, {}, ""},
       }) {
    Script before{{{{"1", "2"}, 1, 3, 6}, same_second, same_third}};
    auto pager = before.pager();
    for (std::size_t i = 0; i < each.taken; ++i) EXPECT_TRUE(pager.next());
    const auto state = pager.state();
    Script later{each.later};
    auto rest = later.resumed(state);
    EXPECT_EQ(ids(rest), each.rest) << each.taken << each.reason;
    EXPECT_EQ(rest.verdict()->reason, each.reason) << each.taken;
    EXPECT_EQ(later.asked.size(), later.pages.size()) << each.taken << each.reason;
  }
}

TEST(Pager, TheStateOfAStrictList) {
  const auto world = [](std::int64_t number) {
    return document({{std::to_string(number * 2), std::to_string(number * 2 + 1)}, number, 3, 6});
  };
  const auto resumed = [&](const std::string& state) { return made_pager(world, {.resume = state}); };
  int fails = 100;
  auto strict = made_pager(
      [&](std::int64_t number) {
        if (fails-- == 0) throw Error(ErrorCode::connection, "broken");
        return world(number);
      },
      {.strict = true});
  const Texts all{"2", "3", "4", "5", "6", "7"};
  for (std::size_t taken = 0; taken < all.size(); ++taken) {
    auto rest = resumed(strict.state());
    EXPECT_EQ(ids(rest), Texts(all.begin() + static_cast<std::ptrdiff_t>(taken), all.end()));
    EXPECT_TRUE(rest.verdict()->complete);
    EXPECT_TRUE(strict.next());
  }
  EXPECT_EQ(strict.total(), 6) << "also between the readings";
  // Resumes after the first reading, during the second reading, and after the second reading.
  auto rest = resumed(strict.state());
  EXPECT_EQ(ids(rest), Texts{});
  EXPECT_TRUE(rest.verdict()->complete);
  fails = 2;
  EXPECT_THROW((void)strict.next(), Error);
  rest = resumed(strict.state());
  EXPECT_EQ(ids(rest), Texts{});
  EXPECT_EQ(rest.verdict()->reason, "stopped");
  EXPECT_FALSE(strict.next());
  EXPECT_TRUE(strict.verdict()->complete);
  rest = resumed(strict.state());
  EXPECT_EQ(ids(rest), Texts{});
  EXPECT_TRUE(rest.verdict()->complete);
}

}  // namespace
}  // namespace billcore
