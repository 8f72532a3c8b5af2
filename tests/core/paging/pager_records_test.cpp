// Tests lists with bad records: repeated ids, items that are not objects, counts that do not match.
#include <gtest/gtest.h>

#include "billcore/error.hpp"
#include "paging/pager_core.hpp"
#include "support/pages.hpp"

namespace billcore {
namespace {

using test::ids;
using test::Item;
using test::made_pager;
using test::Numbers;
using test::Script;
using test::Texts;

// Reads the remaining items. Returns the id of each good item and the error message of each bad item, in order.
Texts told(Pager<Item>& pager) {
  Texts out;
  while (true) {
    try {
      const auto item = pager.next();
      if (!item) return out;
      out.push_back(item->id().text());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::decode);
      EXPECT_EQ(error.detail().path, "/list");
      out.push_back(error.message());
    }
  }
}

TEST(PagerRecords, TheLastOfTwoIdsCounts) {
  Script list{{{{R"(1,"id":2)", R"(1,"id":3)"}, 1, 2, 3}, {{R"(2,"id":4)"}, 2, 2, 3}}};
  auto pager = list.pager();
  EXPECT_EQ(ids(pager), (Texts{"2", "3", "4"}));
  EXPECT_TRUE(pager.verdict()->complete);
  const test::Made first{{R"(1,"id":2)", "5"}, 1, 2, 4};
  const test::Made second{{R"(3,"id":2)", "6"}, 2, 2, 4};
  Script same{{first, second, first, second}};
  auto again = same.pager();
  EXPECT_EQ(ids(again), (Texts{"2", "5", "6"}));
  EXPECT_EQ(again.verdict()->reason, "overlap");
}

TEST(PagerRecords, OfEqualIdsOnOnePageTheFirstIsGiven) {
  for (const bool strict : {false, true}) {
    Script list{{{{R"(1,"n":1)", R"(1,"n":2)", "2"}, 1, 1, 2}, {{"1", "1", "2"}, 1, 1, 2}}};
    auto pager = list.pager({.strict = strict});
    EXPECT_EQ(pager.next()->find("n")->integer(), 1);
    EXPECT_EQ(ids(pager), Texts{"2"});
    EXPECT_EQ(pager.verdict()->reason, "overlap");
  }
}

TEST(PagerRecords, AnItemThatIsNoObjectIsAnErrorInItsPlace) {
  Script list{{{{"1"}, 1, 2, 5, {"[]"}}, {{"2"}, 2, 2, 5, {"7", "null"}}}};
  const Texts all{"1", "GET /list?page=1: data[1] is an array, not an object", "2",
                  "GET /list?page=2: data[1] is an integer, not an object",
                  "GET /list?page=2: data[2] is null, not an object"};
  auto pager = list.pager();
  EXPECT_EQ(told(pager), all);
  EXPECT_EQ(pager.verdict()->reason, "undecodable_item");
  EXPECT_EQ(list.asked, (Numbers{1, 2}));
  // next_page() first throws the error of each bad item, one per call; then it returns the page without the bad
  // items.
  Script same = list;
  same.asked.clear();
  auto pages = same.pager();
  EXPECT_THROW((void)pages.next_page(), Error);
  EXPECT_EQ(pages.next_page()->items().size(), 1U);
  EXPECT_THROW((void)pages.next_page(), Error);
  EXPECT_THROW((void)pages.next_page(), Error);
  EXPECT_EQ(pages.next_page()->items().front().id(), Id(2));
  EXPECT_FALSE(pages.next_page());
  EXPECT_EQ(pages.verdict()->reason, "undecodable_item");
}

TEST(PagerRecords, TheFirstItemIsNoObject) {
  Script list{{{{}, 1, 1, 1, {"true"}}}};
  auto pager = list.pager();
  for (int i = 0; i < 2; ++i) EXPECT_THROW((void)pager.first(), Error);
  EXPECT_EQ(told(pager), Texts{"GET /list?page=1: data[0] is a boolean, not an object"});
}

TEST(PagerRecords, AFailedCollectTakesNothing) {
  Script list{{{{"1"}, 1, 2, 3}, {{"2"}, 2, 2, 3, {"0"}}, {{"1"}, 1, 2, 3}, {{"2"}, 2, 2, 3, {"0"}}}};
  auto pager = list.pager();
  EXPECT_THROW((void)pager.collect(), Error);
  EXPECT_FALSE(pager.verdict());
  EXPECT_EQ(told(pager), (Texts{"1", "2", "GET /list?page=2: data[1] is an integer, not an object"}));
}

TEST(PagerRecords, FewerRecordsThanTheTotalAreNoticed) {
  struct Case {
    std::vector<test::Made> pages;
    std::int64_t first;
    const char* reason;
  };
  for (const auto& each : std::vector<Case>{
           {{{{"1", "2"}, 1, 2, 3}, {{"3"}, 2, 2, 3}}, 1, ""},
           {{{{"1", "2"}, 1, 2, 3}, {{}, 2, 2, 3}}, 1, "total_differs"},
           {{{{"1", "2"}, 1, 1, 3}}, 1, "total_differs"},
           {{{{"1", "2"}, 1, 1, 1}}, 1, "total_differs"},
           {{{{"1", "null"}, 1, 1, 2}}, 1, ""},
           {{{{"1", "2"}, 1, 1, -1}}, 1, ""},
           {{{{}, 1, 0, 0}}, 1, ""},
           {{{{}, 1, 0, 4}}, 1, "total_differs"},
           {{{{"3"}, 2, 2, 30}}, 2, ""},
       }) {
    Script list{each.pages};
    auto pager = list.pager({.first_page = each.first});
    while (pager.next()) {
    }
    EXPECT_EQ(pager.verdict()->reason, each.reason) << each.pages.front().total;
    if (each.first > 1) continue;
    // With strict, the pager reads the list twice, and the verdict describes the second reading.
    Script twice{each.pages};
    twice.pages.insert(twice.pages.end(), each.pages.begin(), each.pages.end());
    auto strict = twice.pager({.strict = true});
    while (strict.next()) {
    }
    EXPECT_EQ(strict.verdict()->reason, each.reason) << each.pages.front().total;
  }
}

TEST(PagerRecords, WithoutATotalSeveralPagesProveNothing) {
  const test::Made first{{"1", "2"}, 1, 2, 3};
  const test::Made second{{"3"}, 2, 2, 3};
  const auto bare = [](test::Made page) {
    page.total = -1;
    return page;
  };
  struct Case {
    std::vector<test::Made> pages;
    const char* reason;
    std::int64_t first_page = 1;
    bool strict = false;
  };
  for (const auto& each : std::vector<Case>{
           {{first, second}, ""},
           {{bare(first), second}, "no_total"},
           {{first, bare(second)}, "no_total"},
           {{{{"1"}, 1, 1}}, ""},
           {{{{"3"}, 2, 2}}, "", 2},
           {{{{"3"}, 2, 3}, {{"4"}, 3, 3}}, "no_total", 2},
           // A list that is read twice is complete if the second reading has totals, consists of one page, or has the
           // same pages as the first reading.
           {{bare(first), second, first, second}, "", 1, true},
           {{first, second, first, bare(second)}, "", 1, true},
           {{bare(first), bare(second), bare(first), bare(second)}, "", 1, true},
           {{first, second, {{"2", "1"}, 1, 2}, second}, "no_total", 1, true},
           {{first, second, first, {{"4"}, 2, 2}}, "no_total", 1, true},
           {{first, second, {{"1"}, 1, 2}, {{"2", "3"}, 2, 2}}, "no_total", 1, true},
           {{first, second, {{"1", "3"}, 1, 1}}, "", 1, true},
           // Two equal readings do not prove that a list is complete if an id is absent or repeated, or if reading does
           // not begin at page 1.
           {{{{"1", "null"}, 1, 2}, second, {{"1", "null"}, 1, 2}, second}, "no_total", 1, true},
           {{{{"1", "2"}, 1, 2}, {{"1", "2"}, 2, 2}, {{"1", "2"}, 1, 2}, {{"1", "2"}, 2, 2}}, "repeated_page", 1, true},
           {{{{"3"}, 2, 3}, {{"4"}, 3, 3}, {{"3"}, 2, 3}, {{"4"}, 3, 3}}, "no_total", 2, true},
       }) {
    Script list{each.pages};
    auto pager = list.pager({.first_page = each.first_page, .strict = each.strict});
    while (pager.next()) {
    }
    EXPECT_EQ(pager.verdict()->reason, each.reason) << &each;
    EXPECT_EQ(list.asked.size(), each.pages.size());
  }
}

TEST(PagerRecords, AStateKnowsThatATotalWasLacking) {
  for (const auto& [before, after] : {std::pair<std::int64_t, std::int64_t>{-1, 3}, {3, -1}, {-1, -1}}) {
    Script list{{{{"1", "2"}, 1, 2, before}}};
    auto pager = list.pager();
    EXPECT_TRUE(pager.next());
    Script later{{{{"1", "2"}, 1, 2, after}, {{"3"}, 2, 2, after}}};
    auto rest = later.resumed(pager.state());
    EXPECT_EQ(ids(rest), (Texts{"2", "3"}));
    EXPECT_EQ(rest.verdict()->reason, "no_total");
    // A resumed list keeps the reason "no_total", even if its later pages have a total.
    Script last{{{{"3"}, 2, 2, 3}}};
    auto end = last.resumed(rest.state());
    EXPECT_EQ(ids(end), Texts{});
    EXPECT_EQ(end.verdict()->reason, "no_total");
  }
  Script one{{{{"1", "2"}, 1, 1}, {{"1", "2"}, 1, 1}}};
  auto pager = one.pager();
  EXPECT_TRUE(pager.next());
  auto rest = one.resumed(pager.state());
  EXPECT_EQ(ids(rest), Texts{"2"});
  EXPECT_TRUE(rest.verdict()->complete) << "a single page is proof, however often it was read";
}

TEST(PagerRecords, AListThatRepeatsItselfIsFoundOut) {
  for (const std::int64_t concurrency : {1, 2, 8}) {
    for (std::int64_t period = 1; period <= 18; ++period) {
      std::int64_t asked = 0;
      auto pager = made_pager(
          [&](std::int64_t number) {
            ++asked;
            const auto text = std::to_string((number - 1) % period);
            return document(test::Made{{text, "\"" + text + "\""}, number, 1'000'000'000, 99});
          },
          {.concurrency = concurrency});
      Texts seen;
      try {
        while (asked < 1000) {
          if (const auto item = pager.next()) seen.push_back(item->id().text());
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::pagination);
      }
      EXPECT_EQ(seen.size(), 2U * static_cast<std::size_t>(period)) << concurrency;
      // The third equal page is an error, and the 18th page without a new record. Such a page is requested twice, and the
      // page before it between the two.
      EXPECT_EQ(asked, period == 1 ? 3 : period + 3 * 18) << concurrency;
    }
  }
}

}  // namespace
}  // namespace billcore
