// Reads lists that change while they are read, and compares the pager's items and verdict with the records that the
// list really contained.
//
// Before each page is read, a byte of the input selects what happens: nothing; records are added at the head of the
// list; records are deleted anywhere; or the page has false counts or wrong items. See List::change().
#include <algorithm>
#include <map>
#include <set>

#include "bytes.hpp"
#include "paging/page_flow.hpp"

namespace {

using namespace billcore;
using namespace billcore::fuzz;

// The limit on the number of page reads. The limit is high, because a list may grow before every page read, and a
// strict pager reads the list twice.
constexpr std::size_t most_reads = 1500;
constexpr std::size_t most_reads_of_a_record = 8;

class List {
 public:
  /// round: if positive, the service repeats its first `round` pages, and claims a practically endless number of pages.
  List(Bytes& plan, std::int64_t round)
      : plan_(plan), per_page_(static_cast<std::int64_t>(1 + plan.below(6))), round_(round), lied_(round > 0) {
    const auto size = static_cast<std::int64_t>(plan.below(60));
    for (auto id = size; id > 0; --id) records_.push_back(id);
    next_ = size + 1;
    there_.insert(records_.begin(), records_.end());
    always_ = there_;
  }

  std::shared_ptr<const detail::Document> read(std::int64_t page) {
    require(++reads_ <= most_reads + most_reads_of_a_record * there_.size(), "a list has an end");
    change();
    const auto size = static_cast<std::int64_t>(records_.size());
    const auto given = round_ > 0 ? (page - 1) % round_ + 1 : page;
    const auto begin = std::min(given > size ? size : (given - 1) * per_page_, size);
    std::string items;
    for (auto i = begin; i < std::min(begin + per_page_, size); ++i) {
      items += (items.empty() ? "" : ",") + std::string("{\"id\":") +
               std::to_string(records_[static_cast<std::size_t>(i)]) + '}';
    }
    auto current = page;
    auto total = std::to_string(size);
    auto pages = round_ > 0 ? 1'000'000 : (size + per_page_ - 1) / per_page_;
    lie(items, current, total, pages);
    const auto text = "{\"data\":[" + items + "],\"pagination\":{\"total\":" + total +
                      ",\"current_page\":" + std::to_string(current) + ",\"total_pages\":" + std::to_string(pages) +
                      "}}";
    return detail::Document::parse(SharedText::own(text));
  }

  /// The records that have been in the list since the beginning.
  [[nodiscard]] const std::set<std::int64_t>& always() const { return always_; }
  [[nodiscard]] const std::set<std::int64_t>& there() const { return there_; }
  [[nodiscard]] bool grew() const { return grew_; }
  [[nodiscard]] bool shrank() const { return shrank_; }
  [[nodiscard]] bool lied() const { return lied_; }
  /// Whether at least one page had an unreadable total.
  [[nodiscard]] bool lacked() const { return lacked_; }
  [[nodiscard]] std::size_t reads() const { return reads_; }

 private:
  void change() {
    const auto what = plan_.byte();
    if (what < 96) return;
    const auto count = 1 + what % 4U;
    if (what < 160) {
      grew_ = true;
      for (unsigned i = 0; i < count; ++i) {
        there_.insert(next_);
        records_.insert(records_.begin(), next_++);
      }
    } else if (what < 232) {
      for (unsigned i = 0; i < count && !records_.empty(); ++i) {
        shrank_ = true;
        const auto at = plan_.below(records_.size());
        always_.erase(records_[at]);
        records_.erase(records_.begin() + static_cast<std::ptrdiff_t>(at));
      }
    } else {
      lying_ = what;
    }
  }

  void lie(std::string& items, std::int64_t& current, std::string& total, std::int64_t& pages) {
    if (lying_ == 0) return;
    const auto how = std::exchange(lying_, std::uint8_t{0}) % 9;
    if (how == 8) {
      lacked_ = true;
      total = "null";
      return;
    }
    lied_ = true;
    if (how == 0) current += plan_.flag() ? 1 : -1;
    if (how == 1) total = plan_.flag() ? "null" : std::to_string(static_cast<int>(plan_.byte()) - 100);
    if (how == 2) pages += static_cast<std::int64_t>(plan_.below(8)) - 4;
    if (how == 3) items.clear();
    if (how == 4) items = plan_.flag() ? "7" : "{\"id\":null},{}";
    if (how == 5) items = last_;
    if (how == 6) items += items.empty() ? "" : "," + items;
    if (how == 7) pages = static_cast<std::int64_t>(plan_.number(8) >> 1U);
    last_ = items;
  }

  Bytes& plan_;
  std::int64_t per_page_;
  std::int64_t round_;
  std::vector<std::int64_t> records_;
  std::int64_t next_ = 1;
  std::set<std::int64_t> there_;
  std::set<std::int64_t> always_;
  std::string last_;
  std::size_t reads_ = 0;
  std::uint8_t lying_ = 0;
  bool grew_ = false;
  bool shrank_ = false;
  bool lacked_ = false;
  bool lied_;
};

/// Prefetches pages in any order, like the real source, which has several requests in flight.
class Source final : public detail::PageSource {
 public:
  Source(List& list, Bytes& plan) : list_(list), plan_(plan) {}
  std::shared_ptr<const detail::Document> fetch(const detail::Wanted& wanted) override {
    require(wanted.page >= 1 && wanted.count >= 1, "only pages are requested");
    ahead(wanted);
    return std::move(pages_.extract(wanted.page).mapped());
  }
  void ahead(const detail::Wanted& wanted) override {
    if (wanted.anew) pages_.clear();
    std::vector<std::int64_t> numbers;
    const auto end =
        std::max(wanted.page, std::min(wanted.last, wanted.page + std::min<std::int64_t>(wanted.count, 8) - 1));
    for (auto number = wanted.page; number <= end; ++number) {
      if (!pages_.contains(number)) numbers.push_back(number);
    }
    if (numbers.size() > 1)
      std::rotate(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(plan_.below(numbers.size())),
                  numbers.end());
    for (const auto number : numbers) pages_[number] = list_.read(number);
  }
  void tend() noexcept override {}
  void stop() noexcept override {}

 private:
  List& list_;
  Bytes& plan_;
  std::map<std::int64_t, std::shared_ptr<const detail::Document>> pages_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes plan(data, size);
  const auto settings = plan.byte();
  List list(plan, (settings & 32U) != 0 ? static_cast<std::int64_t>(1 + plan.below(17)) : 0);
  detail::PagerOptions options;
  options.concurrency = std::array{1, 2, 8, 3}.at(settings & 3U);
  options.strict = (settings & 4U) != 0;
  options.path = "/list";
  const bool in_lives = (settings & 8U) != 0 && !options.strict;
  const bool by_pages = (settings & 16U) != 0;
  auto flow = std::make_unique<detail::PageFlow>(options, std::make_unique<Source>(list, plan));

  std::set<std::int64_t> given;
  bool twice = false;
  const auto take = [&](const Value& item) {
    const auto id = item.find("id");
    if (!id || id->kind() != Value::Kind::integer) return;
    const auto number = id->integer();
    require(list.there().contains(number), "every yielded record was in the list");
    twice = !given.insert(number).second || twice;
  };
  std::string state;
  int errors = 0;
  bool failed = false;
  while (true) {
    try {
      if (by_pages) {
        const auto page = flow->next_page();
        if (!page) break;
        for (const auto* item : page->items) take(Value(page->document, item));
      } else {
        const auto item = flow->next_item();
        if (!item) break;
        take(*item);
      }
      require(!flow->core().verdict() || !flow->core().verdict()->complete || !flow->core().wanted(),
              "no verdict before the end");
    } catch (const Error& error) {
      require(error.code() == ErrorCode::pagination || error.code() == ErrorCode::decode ||
                  error.code() == ErrorCode::out_of_range,
              "a list fails with its own errors");
      require_readable(error);
      failed = true;
      if (++errors > 3) return 0;
    }
    if (in_lives && plan.byte() > 240) {
      state = flow->core().state();
      options.resume = state;
      flow = std::make_unique<detail::PageFlow>(options, std::make_unique<Source>(list, plan));
    }
  }
  const auto verdict = flow->core().verdict();
  require(verdict.has_value(), "a list that was read has a verdict");
  require(verdict->complete == verdict->reason.empty(), "a verdict that is not complete has a reason");
  const bool moved = list.grew() || list.shrank() || list.lied();
  if (!moved) {
    require(!failed && (verdict->complete || list.lacked()) && given == list.always() && !twice,
            "a list that stands still is read as it is");
  }
  if (list.lied()) return 0;
  if (!in_lives) require(!twice || list.reads() > 18, "no record is yielded twice");
  if (!list.shrank()) require(!twice || verdict->reason == "may_repeat", "what is yielded twice is announced");
  // The verdict must be right when the list only grows at its head, or only shrinks. The verdict of a strict pager
  // must always be right.
  if (verdict->complete && !failed && (options.strict || !(list.grew() && list.shrank()))) {
    require(std::includes(given.begin(), given.end(), list.always().begin(), list.always().end()),
            "a complete list has every record that was present all the time");
  }
  return 0;
}
