// Tests resuming a list that has changed: which records are yielded twice, and the verdict.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

#include "base/encoding.hpp"
#include "billcore/error.hpp"
#include "paging/pager_core.hpp"
#include "paging/pager_state.hpp"
#include "support/pages.hpp"

namespace billcore {
namespace {

using test::ids;
using test::Made;
using test::made_pager;
using test::Script;
using test::Texts;

/// A list, latest first, that grows when grow() is called.
class Growing {
 public:
  Growing(int size, int per_page) : per_page_(per_page) { grow(size); }
  void grow(int count) {
    for (int i = 0; i < count; ++i) ids_.push_front(std::to_string(++latest_));
  }
  [[nodiscard]] Pager<test::Item> pager(const detail::PagerOptions& options = {}) {
    return made_pager([this](std::int64_t number) { return test::document(page(number)); }, options);
  }
  [[nodiscard]] Pager<test::Item> resumed(const std::string& state, std::int64_t concurrency = 1) {
    return pager({.concurrency = concurrency, .resume = state});
  }
  /// Whether each page has the list's total.
  bool counts = true;

 private:
  [[nodiscard]] Made page(std::int64_t number) const {
    const auto size = static_cast<std::int64_t>(ids_.size());
    const auto begin = std::min((number - 1) * per_page_, size);
    const auto end = std::min(begin + per_page_, size);
    return {{ids_.begin() + begin, ids_.begin() + end}, number, (size + per_page_ - 1) / per_page_, counts ? size : -1};
  }

  std::int64_t per_page_;
  int latest_ = 0;
  std::deque<std::string> ids_;
};

struct Reading {
  std::map<std::string, int> given;
  void take(Pager<test::Item>& pager, std::size_t count = SIZE_MAX) {
    for (; count > 0; --count) {
      const auto item = pager.next();
      if (!item) return;
      ++given[item->id().text()];
    }
  }
  [[nodiscard]] bool twice() const {
    return std::any_of(given.begin(), given.end(), [](const auto& record) { return record.second > 1; });
  }
};

constexpr int size = 60;
constexpr int per_page = 2;
// Number of ids in a state from which older ids were dropped. A state has room for the ids of 18 pages, but here a 0 in
// place of one id marks that ids were dropped.
constexpr int remembered = 18 * per_page - 1;

bool has_all(const Reading& reading) {
  for (int i = 1; i <= size; ++i) {
    if (!reading.given.contains(std::to_string(i))) return false;
  }
  return true;
}

TEST(PagerResume, AtEachItemOfAListThatHasGrown) {
  for (std::size_t taken = 0; taken <= size; ++taken) {
    for (const int grown : {0, 1, 3, 20, remembered - 1, remembered, remembered + 1, 60, 120}) {
      Growing list(size, per_page);
      Reading reading;
      auto begun = list.pager();
      reading.take(begun, taken);
      list.grow(grown);
      auto rest = list.resumed(begun.state());
      reading.take(rest);
      const auto reason = rest.verdict()->reason;
      EXPECT_TRUE(has_all(reading)) << taken << ' ' << grown;
      if (reading.twice()) {
        EXPECT_EQ(reason, "may_repeat") << taken << ' ' << grown;
      }
      const bool forgot = taken > remembered + 1;
      // The resumed pager reads the last page again; `again` is the number of its records that were yielded before the
      // resume.
      const auto again = taken == size ? per_page : static_cast<int>(taken % per_page);
      EXPECT_EQ(reading.twice(), forgot && grown + again > remembered) << taken << ' ' << grown;
      // The list grew by fewer records than the pager remembers, so the verdict reports only the changed total.
      if (grown + per_page <= remembered) {
        EXPECT_EQ(reason, grown == 0 || taken == 0 ? "" : "total_changed") << taken << ' ' << grown;
      }
    }
  }
}

TEST(PagerResume, ManyResumesLoseAndRepeatNothing) {
  Growing list(size, per_page);
  Reading reading;
  auto pager = list.pager();
  // Before each resume the list grows by fewer records than the pager remembers; the total growth exceeds this number.
  for (int i = 0; i < 8; ++i) {
    reading.take(pager, 9);
    list.grow(9);
    pager = list.resumed(pager.state());
  }
  reading.take(pager);
  EXPECT_TRUE(has_all(reading));
  EXPECT_FALSE(reading.twice());
  EXPECT_EQ(pager.verdict()->reason, "total_changed");
  for (int i = 0; i < 8; ++i) {
    list.grow(9);
    const auto state = pager.state();
    pager = list.resumed(state);
    EXPECT_EQ(pager.state(), state);
    (void)pager.next_page();
  }
  reading.take(pager);
  EXPECT_EQ(pager.verdict()->reason, "may_repeat");
}

// A list that was read with many pages in flight is resumed with only one page in flight, so the new pager remembers
// fewer ids.
TEST(PagerResume, InAProcessThatRemembersLess) {
  Growing list(size, per_page);
  Reading reading;
  auto pager = list.pager({.concurrency = 40});
  reading.take(pager, 10);
  list.grow(100);
  reading.take(pager, 6);
  for (const std::size_t taken : {60U, 200U}) {
    pager = list.resumed(pager.state());
    reading.take(pager, taken);
  }
  EXPECT_TRUE(has_all(reading));
  EXPECT_TRUE(reading.twice());
  EXPECT_EQ(pager.verdict()->reason, "may_repeat");
}

// A pager whose list grows during a pause of the reader gives the same results as a resumed pager.
TEST(PagerResume, AListThatGrowsDuringAPauseIsReadLikeAResumedOne) {
  for (const int grown : {1, 17, 33, 120}) {
    Growing list(size, per_page);
    Reading reading;
    auto pager = list.pager();
    reading.take(pager, 50);
    list.grow(grown);
    reading.take(pager);
    EXPECT_TRUE(has_all(reading));
    EXPECT_EQ(reading.twice(), grown > remembered);
    EXPECT_EQ(pager.verdict()->reason, grown > remembered ? "may_repeat" : "total_changed") << grown;
  }
}

// If a list grows between page reads, its pages overlap, so the remembered pages contain fewer different records.
TEST(PagerResume, GrowingAllTheTime) {
  Growing list(size, per_page);
  Reading reading;
  auto pager = list.pager();
  for (int i = 0; i < 40; ++i) {
    reading.take(pager, 1);
    list.grow(i < 39 ? 1 : 30);
  }
  reading.take(pager);
  EXPECT_TRUE(has_all(reading));
  EXPECT_TRUE(reading.twice());
  EXPECT_EQ(pager.verdict()->reason, "may_repeat");
}

// After a resume, the pager accepts more consecutive pages without a new record than when it reads from page 1.
TEST(PagerResume, ManyPagesOfKnownRecords) {
  Growing list(200, per_page);
  Reading reading;
  auto begun = list.pager({.concurrency = 16});
  reading.take(begun, 140);
  list.grow(60);
  auto rest = list.resumed(begun.state(), 16);
  const auto fetched = rest.fetched_pages();
  EXPECT_TRUE(rest.next());
  EXPECT_GT(rest.fetched_pages() - fetched, 25);
  EXPECT_EQ(rest.verdict(), std::nullopt);
  reading.take(rest);
  EXPECT_FALSE(reading.twice());
  // A list that repeats the same records without end is still an error.
  auto liar = made_pager(
      [](std::int64_t number) {
        return document(Made{{std::to_string(1 + number % 5)}, number, 1'000'000'000, 200});
      },
      {.concurrency = 16, .resume = begun.state()});
  EXPECT_THROW((void)liar.collect(), Error);
}

TEST(PagerResume, WithoutATotalGrowthIsUnknown) {
  for (const auto& [taken, before, after, reason] :
       {std::tuple<std::size_t, bool, bool, const char*>{4, false, false, "may_repeat"},
        {4, true, false, "may_repeat"},
        {4, false, true, "may_repeat"},
        {5, false, false, "no_total"},  // the page that is read again contains the record yielded last
        {0, false, false, "no_total"}}) {
    Growing list(10, per_page);
    list.counts = before;
    Reading reading;
    auto begun = list.pager();
    reading.take(begun, taken);
    list.counts = after;
    auto rest = list.resumed(begun.state());
    reading.take(rest);
    EXPECT_FALSE(reading.twice());
    EXPECT_EQ(rest.verdict()->reason, reason) << taken;
  }
}

TEST(PagerResume, ARecordWithoutAnIdIsNotRecognised) {
  const Made page{{"1", "null", "2"}, 1, 1, 3};
  for (const auto& [taken, left] : {std::pair<std::size_t, std::size_t>{0, 3}, {1, 2}, {2, 2}, {3, 1}}) {
    Script list{{page, page}};
    auto begun = list.pager();
    for (std::size_t i = 0; i < taken; ++i) EXPECT_TRUE(begun.next());
    auto rest = list.resumed(begun.state());
    EXPECT_EQ(rest.collect().size(), left);
    EXPECT_EQ(rest.verdict()->reason == "may_repeat", taken >= 2) << taken;
  }
}

TEST(PagerResume, ARecordTwiceOnAPageIsNotGivenBeforeItIsTaken) {
  const Made page{{"1", "2", "1", "2"}, 1, 1, 2};
  for (const auto& [taken, left] : std::vector<std::pair<std::size_t, Texts>>{{0, {"1", "2"}}, {1, {"2"}}, {2, {}}}) {
    Script list{{page, page}};
    auto begun = list.pager();
    EXPECT_TRUE(begun.first());
    for (std::size_t i = 0; i < taken; ++i) EXPECT_TRUE(begun.next());
    auto rest = list.resumed(begun.state());
    EXPECT_EQ(ids(rest), left);
  }
}

TEST(PagerResume, AWarningIsKept) {
  Growing list(size, per_page);
  auto pager = list.pager();
  EXPECT_EQ(pager.collect(50).size(), 50U);
  list.grow(100);
  for (int i = 0; i < 3; ++i) {
    pager = list.resumed(pager.state());
    EXPECT_EQ(pager.collect(3).size(), 3U);
    EXPECT_EQ(pager.verdict()->reason, "stopped");
  }
  (void)pager.collect();
  EXPECT_EQ(pager.verdict()->reason, "may_repeat");
}

TEST(PagerResume, AStateThatWasNotReadOn) {
  Growing list(size, per_page);
  auto pager = list.pager();
  for (int i = 0; i < size; ++i) {
    const auto state = pager.state();
    EXPECT_EQ(list.resumed(state).state(), state) << i;
    EXPECT_TRUE(pager.next());
  }
}

TEST(PagerState, HasEveryNumberAndNoImpossibleOne) {
  detail::PagerState state;
  state.seen = -1;
  state.counted = 9;
  state.noticed = "overlap";
  state.shift = detail::most_shift;
  state.ids = {0, 5};
  const auto read = detail::read_state(detail::write_state(state)).value();
  EXPECT_EQ(std::tuple(read.page, read.seen, read.total, read.counted, read.noticed, read.shift, read.ids),
            std::tuple(state.page, state.seen, state.total, state.counted, state.noticed, state.shift, state.ids));
  for (const auto& [number, value] : std::initializer_list<std::pair<std::int64_t detail::PagerState::*, std::int64_t>>{
           {&detail::PagerState::page, 0},
           {&detail::PagerState::seen, -2},
           {&detail::PagerState::fetched, -1},
           {&detail::PagerState::shift, -1},
           {&detail::PagerState::shift, detail::most_shift + 1}}) {
    auto impossible = state;
    impossible.*number = value;
    EXPECT_FALSE(detail::read_state(detail::write_state(impossible))) << value;
  }
}

// python/docs/lists.md states how large a state is.
TEST(PagerResume, SizeOfAState) {
  for (const auto& [page_size, characters] : {std::pair(20, 3939U), {100, 19299U}, {200, 38499U}, {1000, 43790U}}) {
    Growing list(page_size * 25, page_size);
    auto pager = list.pager();
    EXPECT_LT(pager.state().size(), 120U);
    std::size_t largest = 0;
    for (int i = 0; i < 25 * page_size; ++i) {
      (void)pager.next();
      if (i % (page_size / 4) == 0) largest = std::max(largest, pager.state().size());
    }
    EXPECT_EQ(largest, characters) << page_size;
  }
}

// Rewrites a state in the format of an earlier version.
std::string of_version(char version, const std::string& state) {
  std::string bytes;
  EXPECT_TRUE(state.starts_with("p3.") && detail::decode_base64(state.substr(3), bytes));
  const std::string begin{'p', version, '.'};
  bytes.erase(bytes.size() - 8);  // removes the hash at the end of the state
  constexpr std::size_t count = 48;
  constexpr std::size_t shift_of_list = 56;
  bytes.erase(shift_of_list, 8);
  if (version == '1') bytes.erase(count, 8);
  const auto hash = detail::text_hash(version == '1' ? bytes : begin + bytes);
  for (unsigned shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<char>(hash >> shift & 0xFFU));
  std::string out = begin;
  detail::encode_base64(bytes, detail::base64url_digits, out);
  return out;
}

TEST(PagerResume, AStateCarriesTheCount) {
  const std::vector<Made> whole{{{"1", "2"}, 1, 3, 6}, {{"3", "4"}, 2, 3, 6}, {{"5", "6"}, 3, 3, 6}};
  const std::vector<Made> half{{{"1", "2"}, 1, 3, 6}, {{"3", "4"}, 2, 3, 6}, {{"5"}, 3, 3, 6}};
  for (std::size_t taken = 0; taken <= 6; ++taken) {
    for (const auto& pages : {whole, half}) {
      const bool is_whole = pages.back().ids.size() == 2;
      Script list{pages};
      auto pager = list.pager();
      for (std::size_t i = 0; i < taken; ++i) (void)pager.next();
      const auto state = pager.state();
      const auto asked = static_cast<std::ptrdiff_t>(list.asked.size());
      const auto read = taken % 2 == 0 && asked < 3 ? asked : std::max<std::ptrdiff_t>(asked - 1, 0);
      for (const auto& counted : {state, of_version('2', state)}) {
        Script later{{pages.begin() + read, pages.end()}};
        auto rest = later.resumed(counted);
        (void)ids(rest);
        EXPECT_EQ(rest.verdict()->reason, is_whole ? "" : "total_differs") << taken;
      }
      Script old{{pages.begin() + read, pages.end()}};
      auto uncounted = old.resumed(of_version('1', state));
      (void)ids(uncounted);
      // A state of version 1 has no count of records: the verdict reports a difference between this count and the total
      // only if the first pager has found the difference.
      EXPECT_EQ(uncounted.verdict()->reason, is_whole || asked < 3 ? "" : "total_differs") << taken;
    }
  }
}

// A state of version 1 does not show whether ids were dropped. A state of version 2 shows whether ids were dropped,
// because it stores the count of records.
TEST(PagerResume, AnOldStateOfAListThatHasGrown) {
  for (const char version : {'1', '2', '3'}) {
    Growing list(size, per_page);
    Reading reading;
    auto begun = list.pager();
    reading.take(begun, 4);
    list.grow(20);
    const auto state = begun.state();
    auto rest = list.resumed(version == '3' ? state : of_version(version, state));
    reading.take(rest);
    EXPECT_TRUE(has_all(reading));
    EXPECT_FALSE(reading.twice());
    EXPECT_EQ(rest.verdict()->reason, version == '1' ? "may_repeat" : "total_changed") << version;
  }
}

}  // namespace
}  // namespace billcore
