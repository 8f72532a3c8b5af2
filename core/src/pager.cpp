#include "billcore/pager.hpp"

#include "billcore/error.hpp"
#include "pager_core.hpp"

namespace billcore {
namespace detail {
namespace {

constexpr std::size_t window_pages = 18;
constexpr int max_same_pages = 3;

std::optional<std::int64_t> optional_number(const Node* pagination, std::string_view field) noexcept {
  const Node* found = member(pagination, field);
  std::int64_t number = 0;
  if (found == nullptr || !int64(found, number)) return std::nullopt;
  return number;
}

// What an item is recognised by: 7 and "7" differ. Empty for an item without an id, which is always yielded.
std::string id_key(const Node* id) {
  if (id == nullptr) return {};
  if (kind(id) == Value::Kind::string) return std::string("s").append(text(id));
  return kind(id) == Value::Kind::integer ? integer_text(id) : std::string();
}

}  // namespace

PagerCore::PagerCore(Fetch fetch, std::int64_t first_page) : fetch_(std::move(fetch)), next_number_(first_page) {
  if (first_page < 1) {
    throw Error(ErrorCode::invalid_argument, "page is " + std::to_string(first_page) + ": pages count from 1");
  }
}

void PagerCore::notice(std::string_view reason) noexcept {
  if (noticed_.empty()) noticed_ = reason;
}

void PagerCore::keep_new_items(const Node* data) {
  Ids ids;
  Ids fresh;
  std::unordered_set<std::string_view> on_this_page;
  bool all_have_ids = true;
  bool overlap = false;
  const Node* item = first(data);
  for (std::size_t left = size(data); left > 0; --left, item = next(item)) {
    ids.push_back(id_key(kind(item) == Value::Kind::object ? member(item, "id") : nullptr));
  }
  item = first(data);
  for (const auto& key : ids) {
    const Node* here = std::exchange(item, next(item));
    if (!key.empty() && (known_.contains(key) || !on_this_page.insert(key).second)) {
      overlap = true;
      continue;
    }
    page_->items.push_back(here);
    if (key.empty()) {
      all_have_ids = false;
    } else {
      fresh.push_back(key);
    }
  }
  if (overlap) notice("overlap");
  if (all_have_ids) check_repetition(ids, !page_->items.empty());

  // Only a page that is taken is remembered: after an error the same page is asked for again.
  known_.insert(fresh.begin(), fresh.end());
  window_.push_back(std::move(fresh));
  if (window_.size() > window_pages) {
    for (const auto& old : window_.front()) known_.erase(old);
    window_.pop_front();
  }
  previous_ids_ = all_have_ids ? std::move(ids) : Ids();
}

void PagerCore::check_repetition(const Ids& ids, bool any_new) {
  if (ids.empty()) return;
  same_pages_ = ids == previous_ids_ ? same_pages_ + 1 : 1;
  if (same_pages_ > 1) notice("repeated_page");
  pages_without_news_ = any_new ? 0 : pages_without_news_ + 1;
  if (same_pages_ >= max_same_pages || pages_without_news_ >= static_cast<int>(window_pages)) {
    throw Error(ErrorCode::pagination, "the list repeats itself: page " + std::to_string(next_number_) +
                                           " brings the same records again; the service does not honour `page`");
  }
}

void PagerCore::read(const std::shared_ptr<const Document>& document) {
  const Node* data = member(document->root(), "data");
  PageData page{document, {}, Pagination(Value(document, member(document->root(), "pagination")))};
  const auto current = page.pagination.current_page();
  const auto last = page.pagination.total_pages();
  const auto total = optional_number(page.pagination.value().node(), "total");

  const bool shrunk = fetched_ > 0 && next_number_ > last;  // asked for because the page before said it exists
  if (current != next_number_ && !shrunk) {
    throw Error(ErrorCode::pagination, "page " + std::to_string(next_number_) + " was asked for, page " +
                                           std::to_string(current) + " came: the service does not honour `page`");
  }
  if (size(data) == 0 && next_number_ < last) {
    throw Error(ErrorCode::pagination, "page " + std::to_string(next_number_) + " is empty, yet says that there are " +
                                           std::to_string(last) + " pages");
  }
  if (shrunk) notice("list_shrank");
  if (total && total_ && *total != *total_) notice("total_changed");

  page_.emplace(std::move(page));
  position_ = 0;
  keep_new_items(data);
  if (total) total_ = total;
  last_number_ = last;
  ++fetched_;
  ended_ = next_number_ >= last;
  if (!ended_) ++next_number_;
}

std::optional<std::int64_t> PagerCore::wanted() const noexcept {
  if (ended_) return std::nullopt;
  return next_number_;
}

void PagerCore::accept(const std::shared_ptr<const Document>& document) {
  stopped_ = false;
  try {
    read(document);
  } catch (...) {
    // What has been yielded stays yielded; the next call asks for this page again.
    page_.reset();
    throw;
  }
  if (fetched_ == 1 && !page_->items.empty()) first_.emplace(page_->document, page_->items.front());
}

bool PagerCore::advance() {
  const auto number = wanted();
  if (!number) return false;
  page_.reset();
  accept(fetch_(*number));
  return true;
}

std::optional<Value> PagerCore::take_item() {
  if (!buffered()) {
    page_.reset();
    return std::nullopt;
  }
  stopped_ = false;
  return Value(page_->document, page_->items[position_++]);
}

std::optional<PageData> PagerCore::take_page() {
  if (!page_) return std::nullopt;
  PageData page = *std::move(page_);
  page.items.erase(page.items.begin(), page.items.begin() + static_cast<std::ptrdiff_t>(position_));
  page_.reset();
  position_ = 0;
  stopped_ = false;
  return page;
}

std::optional<Value> PagerCore::next_item() {
  while (!buffered() && advance()) {
  }
  return take_item();
}

std::optional<PageData> PagerCore::next_page() {
  if (!buffered() && !advance()) return std::nullopt;
  return take_page();
}

std::optional<Value> PagerCore::first_item() {
  if (fetched_ == 0) advance();
  return first_;
}

std::optional<Verdict> PagerCore::verdict() const noexcept {
  const bool all_taken = ended_ && (!page_ || position_ == page_->items.size());
  if (stopped_ && !all_taken) return Verdict{false, "stopped"};
  if (!ended_) return std::nullopt;
  return Verdict{noticed_.empty(), noticed_};
}

void PagerCore::stop() noexcept { stopped_ = true; }

std::shared_ptr<PagerCore> make_pager_core(std::int64_t first_page) {
  return std::make_shared<PagerCore>(nullptr, first_page);
}
std::optional<std::int64_t> wanted_page(const PagerCore& core) noexcept { return core.wanted(); }
void accept_page(PagerCore& core, const std::shared_ptr<const Document>& document) { core.accept(document); }
std::optional<Value> take_item(PagerCore& core) { return core.take_item(); }
std::optional<PageData> take_page(PagerCore& core) { return core.take_page(); }
const std::optional<Value>& known_first(const PagerCore& core) noexcept { return core.known_first(); }
std::optional<Value> next_item(PagerCore& core) { return core.next_item(); }
std::optional<PageData> next_page(PagerCore& core) { return core.next_page(); }
std::optional<Value> first_item(PagerCore& core) { return core.first_item(); }
bool buffered(const PagerCore& core) noexcept { return core.buffered(); }
std::optional<std::int64_t> list_total(const PagerCore& core) noexcept { return core.total(); }
std::int64_t fetched_pages(const PagerCore& core) noexcept { return core.fetched_pages(); }
std::optional<Verdict> verdict(const PagerCore& core) noexcept { return core.verdict(); }
void stop(PagerCore& core) noexcept { core.stop(); }

}  // namespace detail

}  // namespace billcore
