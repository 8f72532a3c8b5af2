// Simulates thousands of pagers that read changing lists, and compares each verdict with the records that the list
// really contained.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>

#include "billcore/error.hpp"
#include "billcore/pager.hpp"
#include "paging/page_flow.hpp"
#include "support/pages.hpp"

namespace billcore {
namespace {

using test::Item;
struct Plan {
  unsigned seed = 0;
  double inserts = 0;  // probability of an insert between two page reads
  double deletions = 0;
  int concurrency = 1;
  bool strict = false;
  double stops = 0;          // probability that a new pager resumes after an item
  double without_total = 0;  // probability that a page has no readable `total`
  int per_page = 5;
  int most_records = 60;  // largest number of records at the beginning
  int grown = 0;          // largest number of records inserted in a pause between two pagers
  int shrunk = 0;         // largest number of records deleted in a pause between two pagers
  int pauses = 1000;      // largest number of pauses in a run
};

/// A list, latest first, that changes whenever a page of it is read.
class World {
 public:
  explicit World(const Plan& plan) : plan_(plan), random_(plan.seed) {
    const auto size = below(plan.most_records);
    for (int i = 0; i < size; ++i) records_.push_back(size - i);
    next_ = size + 1;
    survivors_.insert(records_.begin(), records_.end());
  }

  std::shared_ptr<const detail::Document> read(std::int64_t page) {
    const std::int64_t per_page = plan_.per_page;
    while (happens(plan_.inserts)) insert();
    while (happens(plan_.deletions)) remove();
    const auto size = static_cast<std::int64_t>(records_.size());
    test::Texts ids;
    for (auto i = (page - 1) * per_page; i < std::min(page * per_page, size); ++i) {
      ids.push_back(std::to_string(records_[static_cast<std::size_t>(i)]));
    }
    ++reads_;
    const auto total = happens(plan_.without_total) ? -1 : size;
    return test::document({std::move(ids), page, (size + per_page - 1) / per_page, total});
  }

  /// Simulates a pause between two pagers, in which the list changes.
  void pause() {
    for (auto left = below(plan_.grown); left > 0; --left) insert();
    for (auto left = below(plan_.shrunk); left > 0; --left) remove();
  }

  [[nodiscard]] std::mt19937& random() noexcept { return random_; }
  /// The records that have been in the list since the beginning.
  [[nodiscard]] const std::set<std::int64_t>& survivors() const noexcept { return survivors_; }
  [[nodiscard]] int reads() const noexcept { return reads_; }
  bool happens(double chance) { return chance > 0 && std::uniform_real_distribution<>(0, 1)(random_) < chance; }

 private:
  int below(int most) { return most > 0 ? std::uniform_int_distribution<int>(0, most)(random_) : 0; }
  void insert() { records_.insert(records_.begin(), next_++); }
  void remove() {
    if (records_.empty()) return;
    const auto at = std::uniform_int_distribution<std::size_t>(0, records_.size() - 1)(random_);
    survivors_.erase(records_[at]);
    records_.erase(records_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  Plan plan_;
  std::mt19937 random_;
  std::vector<std::int64_t> records_;
  std::int64_t next_ = 1;
  std::set<std::int64_t> survivors_;
  int reads_ = 0;
};

/// Prefetches pages in random order, because with several requests in flight the real page source gets pages in any
/// order.
class WorldSource final : public detail::PageSource {
 public:
  explicit WorldSource(World& world) : world_(world) {}

  std::shared_ptr<const detail::Document> fetch(const detail::Wanted& wanted) override {
    ahead(wanted);
    return std::move(pages_.extract(wanted.page).mapped());
  }
  void ahead(const detail::Wanted& wanted) override {
    if (wanted.anew) pages_.clear();
    std::vector<std::int64_t> numbers;
    const auto end = std::max(wanted.page, std::min(wanted.last, wanted.page + wanted.count - 1));
    for (auto number = wanted.page; number <= end; ++number) {
      if (!pages_.contains(number)) numbers.push_back(number);
    }
    std::shuffle(numbers.begin(), numbers.end(), world_.random());
    for (const auto number : numbers) pages_[number] = world_.read(number);
  }
  void tend() noexcept override {}
  void stop() noexcept override {}

 private:
  World& world_;
  std::map<std::int64_t, std::shared_ptr<const detail::Document>> pages_;
};

struct Outcome {
  std::string_view reason = {};  // reason of the verdict; empty if the list is complete
  std::size_t missed = 0;        // records that were in the list all the time but were never yielded
  std::size_t twice = 0;
  bool only_grew = false;
};

Outcome run(Plan plan) {
  World world(plan);
  std::shared_ptr<detail::PageFlow> flow;
  const auto begin = [&](const std::optional<std::string>& state) {
    const detail::PagerOptions options{1, plan.concurrency, plan.strict, state, 0, {}};
    flow = std::make_shared<detail::PageFlow>(options, std::make_unique<WorldSource>(world));
    return Pager<Item>(flow);
  };
  auto pager = begin({});
  std::set<std::int64_t> yielded;
  std::size_t twice = 0;
  try {
    while (const auto item = pager.next()) {
      if (!yielded.insert(std::stoll(item->id().text())).second) ++twice;
      if (plan.pauses == 0 || !world.happens(plan.stops)) continue;
      --plan.pauses;
      world.pause();
      pager = begin(pager.state());
    }
    if (plan.stops == 0) {
      EXPECT_EQ(twice, 0U);
    }
  } catch (const Error& error) {
    // The list changes so fast that three pages in a row are the same, and the pager reports an error.
    EXPECT_EQ(error.code(), ErrorCode::pagination);
    EXPECT_GT(plan.inserts + plan.deletions, 0) << error.message();
    return {"error"};
  }
  std::vector<std::int64_t> missed;
  std::set_difference(world.survivors().begin(), world.survivors().end(), yielded.begin(), yielded.end(),
                      std::back_inserter(missed));
  EXPECT_LT(world.reads(), 400 + 20 * (plan.grown + plan.most_records));
  return {pager.verdict()->reason, missed.size(), twice, flow->core().only_grew()};
}

struct Sum {
  int complete = 0;
  int falsely = 0;   // runs that missed a record although the verdict was complete
  int missed = 0;    // runs that missed a record
  int twice = 0;     // runs that yielded a record twice
  int silently = 0;  // runs that yielded a record twice without "may_repeat"
  int grown = 0;     // runs that were not complete, but only grew
  int short_of = 0;  // runs that missed a record although the list only grew
};

Sum many(Plan plan, int runs) {
  Sum sum;
  for (int i = 0; i < runs; ++i) {
    plan.seed = static_cast<unsigned>(i) + 1;
    plan.concurrency = std::array{1, 2, 8}.at(static_cast<std::size_t>(i % 3));
    const auto outcome = run(plan);
    const bool complete = outcome.reason.empty();
    const bool warned = outcome.reason == "may_repeat";
    sum.complete += complete ? 1 : 0;
    sum.missed += outcome.missed > 0 ? 1 : 0;
    sum.twice += outcome.twice > 0 ? 1 : 0;
    sum.silently += outcome.twice > 0 && !warned ? 1 : 0;
    sum.falsely += complete && outcome.missed > 0 ? 1 : 0;
    sum.grown += outcome.only_grew && !complete ? 1 : 0;
    sum.short_of += outcome.only_grew && outcome.missed > 0 ? 1 : 0;
  }
  return sum;
}

#if defined(__SANITIZE_ADDRESS__)
constexpr int runs = 1000;
#else
constexpr int runs = 2500;
#endif

TEST(PagerSimulation, AListThatStandsStillIsComplete) {
  for (const auto& plan : {Plan{}, {.stops = 0.2}, {.strict = true, .without_total = 1}}) {
    const auto sum = many(plan, runs);
    EXPECT_EQ(sum.complete, runs);
    EXPECT_EQ(sum.missed + sum.twice, 0);
  }
}

TEST(PagerSimulation, AListThatOnlyGrowsIsKnownToLoseNothing) {
  for (const double chance : {0.02, 0.2, 0.5}) {
    const auto sum = many({.inserts = chance}, runs);
    EXPECT_EQ(sum.falsely, 0) << chance;
    EXPECT_GT(sum.complete, 0) << chance;
    EXPECT_EQ(sum.short_of, 0) << chance;
    EXPECT_GT(sum.grown, sum.complete / 20) << chance;
  }
}

// A verdict is false only if a list that is read once grows and shrinks.
TEST(PagerSimulation, NoVerdictIsFalse) {
  constexpr int some = runs / 4;
  for (const double total : {0.0, 0.3, 1.0}) {  // the probability that a page has no readable `total`
    for (const auto& [inserts, deletions] :
         {std::pair(0.02, 0.0), {0.2, 0.0}, {0.0, 0.02}, {0.0, 0.2}, {0.0, 0.5}, {0.2, 0.2}, {0.4, 0.4}}) {
      for (const auto& [strict, stops] : {std::pair(false, 0.0), {false, 0.1}, {true, 0.0}}) {
        if (inserts > 0 && deletions > 0 && !strict) continue;
        const auto sum =
            many({.inserts = inserts, .deletions = deletions, .strict = strict, .stops = stops, .without_total = total},
                 some);
        SCOPED_TRACE(testing::Message() << total << ' ' << inserts << ' ' << deletions << ' ' << strict << ' '
                                        << stops);
        EXPECT_EQ(sum.falsely, 0);
        if (deletions == 0) continue;
        EXPECT_EQ(sum.grown + sum.short_of, 0);
      }
    }
  }
}

// During a pause the list changes more than during reading, in some runs by more records than the pager remembers.
TEST(PagerSimulation, ResumedAfterAPause) {
  constexpr int some = runs / 20;
  for (const auto& [grown, shrunk] : {std::pair(10, 0), {60, 0}, {200, 0}, {10, 10}, {60, 60}}) {
    for (const int per_page : {1, 3}) {
      for (const double without_total : {0.0, 0.3}) {
        const auto sum = many({.inserts = 0.02,
                               .stops = 0.03,
                               .without_total = without_total,
                               .per_page = per_page,
                               .most_records = 120,
                               .grown = grown,
                               .shrunk = shrunk,
                               .pauses = 3},
                              some);
        EXPECT_EQ(sum.falsely, 0) << grown << ' ' << per_page;
        // When the list also shrinks, its total does not show by how much it has grown.
        EXPECT_LE(sum.silently, shrunk > 0 ? some / 10 : 0) << grown << ' ' << per_page;
      }
    }
  }
}

}  // namespace
}  // namespace billcore
