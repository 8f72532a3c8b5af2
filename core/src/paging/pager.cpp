#include "billcore/pager.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "billcore/error.hpp"
#include "call/answer.hpp"
#include "paging/pager_core.hpp"

namespace billcore {
namespace detail {
namespace {

constexpr std::size_t least_window = 18;  // pages
constexpr int max_same_pages = 3;
constexpr int max_pages_without_news = 18;

std::optional<std::int64_t> optional_number(const Node* pagination, std::string_view field) noexcept {
  const Node* found = member(pagination, field);
  std::int64_t number = 0;
  if (found == nullptr || !int64(found, number)) return std::nullopt;
  return number;
}

// What an item is recognised by: 7 and "7" differ. 0 for an item without an id, which is always yielded.
std::uint64_t id_hash(const Node* item) {
  const Node* id = member(item, "id");
  if (id == nullptr) return 0;
  std::uint64_t hash = 0;
  if (std::int64_t number = 0; int64(id, number)) {
    hash = number_hash(static_cast<std::uint64_t>(number));
  } else if (const auto what = kind(id); what == Value::Kind::string) {
    hash = text_hash(text(id));
  } else if (what == Value::Kind::integer) {
    hash = text_hash(integer_text(id));
  } else {
    return 0;
  }
  return std::max<std::uint64_t>(hash, 1);
}

std::vector<std::uint64_t> ids_of(const Node* data) {
  std::vector<std::uint64_t> ids;
  ids.reserve(size(data));
  const Node* item = first(data);
  for (std::size_t left = size(data); left > 0; --left, item = next(item)) ids.push_back(id_hash(item));
  return ids;
}

}  // namespace

PagerCore::PagerCore(std::unique_ptr<PageSource> source, const PagerOptions& options)
    : source_(std::move(source)),
      first_page_(options.first_page),
      concurrency_(std::max<std::int64_t>(options.concurrency, 1)),
      strict_(options.strict),
      list_(options.list),
      path_(options.path),
      next_number_(options.first_page),
      ahead_(concurrency_),
      counted_(options.first_page == 1 ? std::optional<std::int64_t>(0) : std::nullopt),
      known_(options.strict ? 0 : std::max(least_window, static_cast<std::size_t>(concurrency_) * 2 + 2)) {
  if (first_page_ < 1) {
    throw Error(ErrorCode::invalid_argument, "page is " + std::to_string(first_page_) + ": pages count from 1");
  }
  if (options.resume) resume(*options.resume, options.list);
}

void PagerCore::resume(std::string_view text, std::uint64_t list) {
  const auto state = read_state(text);
  if (!state) throw Error(ErrorCode::invalid_argument, "resume is not the state of a pager: pass it as it was given");
  if (state->list != list) {
    throw Error(ErrorCode::invalid_argument, "resume is the state of another list: pass the same arguments with it");
  }
  if (strict_) {
    throw Error(ErrorCode::invalid_argument,
                "resume and strict do not go together: a second reading needs the whole first");
  }
  next_number_ = state->page;
  fetched_ = state->fetched;
  total_ = state->total;
  counted_ = state->counted;
  noticed_ = state->noticed;
  for (const auto id : state->ids) known_.add(id);
  yielded_ = state->ids;
  if (state->fetched > 0) resumed_ = state->seen;
}

std::string PagerCore::state() const {
  PagerState out;
  out.list = list_;
  out.fetched = fetched_;
  out.total = total_;
  if (second_ && fetched_ > first_fetched_) {
    // Nobody goes on with a second reading, since it goes by the whole of the first: it stays behind that one.
    const bool whole = ended_ && !buffered();
    out.page = first_reading_;
    out.seen = -1;
    out.noticed = whole ? noticed_ : "stopped";
    out.ids = first_ids_;
    std::erase(out.ids, 0U);
    return write_state(out);
  }
  out.page = second_ ? first_reading_ : due();
  out.noticed = second_ ? first_noticed_ : noticed_;
  out.counted = second_ ? first_counted_ : counted_;
  out.ids = yielded_;
  if (page_) {
    if (out.counted) *out.counted -= static_cast<std::int64_t>(page_->items.size() - position_);
    const auto taken = page_ids_.begin() + static_cast<std::ptrdiff_t>(position_);
    out.ids.insert(out.ids.end(), page_ids_.begin(), taken);
    if (taken != page_ids_.end()) out.page = page_number_;
    if (out.page == page_number_)
      out.seen = known_here_ + (taken - page_ids_.begin()) - std::count(page_ids_.begin(), taken, 0U);
  }
  if (border_ > 0) out.seen = -1;
  std::erase(out.ids, 0U);
  return write_state(out);
}

void PagerCore::notice(std::string_view reason) noexcept {
  if (noticed_.empty()) noticed_ = reason;
}

std::optional<Wanted> PagerCore::wanted() const noexcept {
  if (ended_) return std::nullopt;
  if (const auto more = ahead()) return more;
  return Wanted{due(), due(), 1, anew_};
}

std::optional<Wanted> PagerCore::ahead() const noexcept {
  // first() is to cost one request: others are made when a second item is asked for. A second reading goes from page to page,
  // since then nothing can move past it unseen.
  if (ahead_ <= 1 || taken_ == 0 || fetched_ == 0 || ended_ || border_ > 0 || second_) return std::nullopt;
  return Wanted{next_number_, last_number_, ahead_, anew_};
}

// Are there items on it that were yielded before, from another page?
bool PagerCore::overlaps(const Ids& ids) noexcept {
  if (second_ || ids == previous_) return false;
  const auto known = [this](std::uint64_t id) { return id != 0 && known_.contains(id); };
  const auto seen = std::exchange(resumed_, std::nullopt).value_or(0);
  return seen >= 0 && std::count_if(ids.begin(), ids.end(), known) != seen;
}

// Did the list move since the page before was read?
PagerCore::Move PagerCore::move_before(const Ids& ids, std::optional<std::int64_t> total, bool shrunk) noexcept {
  const bool changed = total && total_ && *total != *total_;
  const bool again = overlaps(ids);
  if (shrunk) notice("list_shrank");
  if (changed) notice("total_changed");
  if (again) notice("overlap");
  if (changed && *total > *total_) return Move::grown;
  return shrunk || changed || again ? Move::other : Move::none;
}

// A page that was read too early, or that something moved past, is not taken. True when others are to be read first.
bool PagerCore::must_read_again(Move move, std::int64_t number) noexcept {
  if (move == Move::none || mended_ == number) return false;
  if (move == Move::grown) {
    // New records come at the head and push others down: nothing is lost behind a page that was read since.
    if (number > announced_) return false;
    mended_ = number;
  } else {
    // What moved up is on the page before by now.
    if (number == 1) return false;
    border_ = number;
  }
  anew_ = true;
  announced_ = 0;
  ahead_ = 1;  // pages of a list that moves are better read one after the other
  return true;
}

void PagerCore::keep_new_items(const Node* data, const Ids& ids) {
  const bool rereading = border_ > 0;
  const bool all_have_ids = std::find(ids.begin(), ids.end(), 0U) == ids.end();
  if (!rereading) {
    const auto is_new = [this](std::uint64_t id) { return id == 0 || !known_.contains(id); };
    if (all_have_ids) check_repetition(ids, std::any_of(ids.begin(), ids.end(), is_new));
    previous_.clear();
    if (all_have_ids) previous_.assign(ids.begin(), ids.end());
  }
  // Only a page that is taken is remembered: after an error the same page is asked for again. What is read again does not
  // move the window on, or a list could repeat itself outside it.
  known_.begin_reading(second_ || page_number_ > highest_);
  highest_ = std::max(highest_, page_number_);
  page_size_ = std::max(page_size_, ids.size());
  known_here_ = 0;
  odd_ = false;
  page_ids_.clear();
  const Node* item = first(data);
  for (const auto id : ids) {
    const Node* here = std::exchange(item, next(item));
    if (id == 0 && kind(here) != Value::Kind::object) {  // what has an id is an object
      odd_ = true;
      notice("undecodable_item");
    }
    // What has no id cannot be told from what was read before: it is yielded by the first reading of its page.
    const auto unknown = rereading || second_ ? RecentIds::Seen::before : RecentIds::Seen::never;
    const auto seen = id == 0 ? unknown : known_.add(id);
    if (seen == RecentIds::Seen::in_this_reading) notice("overlap");
    const bool counts = second_ ? seen != RecentIds::Seen::in_this_reading : seen == RecentIds::Seen::never;
    if (counted_ && counts) ++*counted_;
    if (seen != RecentIds::Seen::never) {
      known_here_ += id == 0 ? 0 : 1;
      continue;
    }
    page_->items.push_back(here);
    page_ids_.push_back(id);
  }
}

void PagerCore::check_repetition(const Ids& ids, bool any_new) {
  if (ids.empty()) return;
  same_pages_ = ids == previous_ ? same_pages_ + 1 : 1;
  if (same_pages_ > 1) notice("repeated_page");
  pages_without_news_ = any_new || (second_ && next_number_ <= first_reading_) ? 0 : pages_without_news_ + 1;
  if (same_pages_ >= max_same_pages || pages_without_news_ >= max_pages_without_news) {
    throw Error(ErrorCode::pagination,
                "the list repeats itself: the same records came again; the service does not honour `page`");
  }
}

// Before a page changes anything: nothing that is remembered of it allocates. A page of which a part is remembered would look
// like a list that moved when it is asked for again.
void PagerCore::make_room(const Ids& ids, PageData& page) {
  page.items.reserve(ids.size());
  page_ids_.reserve(ids.size());
  previous_.reserve(ids.size());
  known_.reserve(ids.size());
  if (strict_ && !second_) first_ids_.reserve(yielded_.size() + ids.size());
}

void PagerCore::read(const std::shared_ptr<const Document>& document) {
  const Node* data = member(document->root(), "data");
  PageData page{document, {}, Pagination(Value(document, member(document->root(), "pagination")))};
  const auto current = page.pagination.current_page();
  const auto last = page.pagination.total_pages();
  const auto total = optional_number(page.pagination.value().node(), "total");
  const auto number = due();

  const bool shrunk = fetched_ > 0 && number > first_page_ && number > last;  // the page before said that it exists
  if (current != number && !shrunk) {
    throw Error(ErrorCode::pagination,
                "page " + std::to_string(current) + " came instead: the service does not honour `page`");
  }
  if (size(data) == 0 && number < last) {
    throw Error(ErrorCode::pagination, "the page is empty, yet says that there are " + std::to_string(last) + " pages");
  }
  const auto ids = ids_of(data);
  make_room(ids, page);
  ++fetched_;
  const auto move = border_ == 0 && fetched_ > 1 ? move_before(ids, total, shrunk) : Move::none;
  if (total) total_ = total;
  last_number_ = last;
  if (must_read_again(move, number)) return;
  if (move == Move::none && border_ == 0) ahead_ = std::min(ahead_ * 2, concurrency_);
  page_.emplace(std::move(page));
  page_number_ = number;
  position_ = 0;
  keep_new_items(data, ids);
  anew_ = false;
  if (border_ > 0) {
    mended_ = std::exchange(border_, 0);
    if (page_->items.empty()) page_.reset();
    if (mended_ <= last) return;  // and now it
    next_number_ = mended_;       // it has shrunk to before it: this was the end
  }
  go_on(last);
}

void PagerCore::go_on(std::int64_t last) {
  if (next_number_ < last) {
    ++next_number_;
    return;
  }
  if (counted_ && total_ && *counted_ != *total_) notice("total_differs");
  if (!strict_ || second_) {
    ended_ = true;
    return;
  }
  second_ = true;
  first_reading_ = next_number_;
  first_fetched_ = fetched_;
  first_noticed_ = noticed_;
  first_counted_ = counted_;
  first_ids_ = yielded_;
  first_ids_.insert(first_ids_.end(), page_ids_.begin(), page_ids_.end());
  next_number_ = first_page_;
  noticed_ = {};  // the second reading decides
  if (counted_) counted_ = 0;
  total_.reset();
  previous_.clear();
  same_pages_ = 1;
  mended_ = 0;
  anew_ = true;
}

void PagerCore::accept(const std::shared_ptr<const Document>& document) {
  stopped_ = false;
  if (page_) {
    yielded_.insert(yielded_.end(), page_ids_.begin(), page_ids_.end());
    page_ids_.clear();
    const auto old = static_cast<std::ptrdiff_t>(yielded_.size() - std::min(yielded_.size(), 2 * page_size_));
    yielded_.erase(yielded_.begin(), yielded_.begin() + old);
  }
  page_.reset();
  const auto number = due();
  try {
    read(document);
  } catch (const Error& error) {
    page_.reset();
    throw about_page(number, *document, error);
  }
  if (!first_ && page_ && !page_->items.empty()) first_.emplace(page_->document, page_->items.front());
}

// What an error says of the page that was not taken: the same as those of a page that did not come.
Error PagerCore::about_page(std::int64_t number, const Document& document, const Error& error) const {
  auto detail = error.detail();
  detail.method = "GET";
  detail.path = path_;
  if (const auto& info = document.info()) {
    detail.http_status = info->status();
    detail.attempts = info->attempts();
    detail.request_id = info->request_id();
  }
  auto message = subject_of_page(path_, number, detail.attempts) + error.message();
  // The answer is not as promised; missing_field is for a field that the caller reads.
  const auto code = error.code() == ErrorCode::missing_field ? ErrorCode::decode : error.code();
  return {code, std::move(message), std::move(detail)};
}

bool PagerCore::advance() {
  const auto next = wanted();
  if (!next) return false;
  anew_ = false;
  accept(source_->fetch(*next));
  if (page_) announce();
  return true;
}

void PagerCore::announce() noexcept try {
  const auto next = ahead();
  if (!next || source_ == nullptr) return;
  source_->ahead(*next);
  announced(*next);
} catch (...) {
  // Whoever waits for the page will be told.
}

void PagerCore::announced(const Wanted& pages) noexcept {
  announced_ = std::min(pages.last, pages.page > pages.last - pages.count ? pages.last : pages.page + pages.count - 1);
}

std::optional<Value> PagerCore::take_item() {
  if (taken_ == 1) announce();
  if (announced_ > 0 && source_ != nullptr) source_->tend();
  if (!buffered()) return std::nullopt;
  stopped_ = false;
  ++taken_;
  Value item(page_->document, page_->items[position_++]);
  return odd_ ? checked(std::move(item), page_number_) : std::move(item);
}

// An item that is no object was found when its page came, and is an error when its turn comes.
Value PagerCore::checked(Value item, std::int64_t number) const {
  if (item.is_object()) return item;
  throw about_page(number, *item.document(), wrong_kind(item, "an object"));
}

void PagerCore::take_back(const PagerMark& before, const PagerMark& after) noexcept {
  if (!(mark() == after) || before.fetched != fetched_) return;
  taken_ = before.taken;
  position_ = before.position;
  stopped_ = before.stopped;
}

std::optional<PageData> PagerCore::rest_of_page() {
  if (!page_) return std::nullopt;
  for (auto at = position_; odd_ && at < page_->items.size(); ++at) {
    const Value item(page_->document, page_->items[at]);
    if (item.is_object()) continue;
    // Told of once; then the page is given without it.
    page_->items.erase(page_->items.begin() + static_cast<std::ptrdiff_t>(at));
    page_ids_.erase(page_ids_.begin() + static_cast<std::ptrdiff_t>(at));
    static_cast<void>(checked(item, page_number_));
  }
  PageData page{page_->document, {}, page_->pagination};
  page.items.assign(page_->items.begin() + static_cast<std::ptrdiff_t>(position_), page_->items.end());
  return page;
}

void PagerCore::skip_page() noexcept {
  position_ = page_->items.size();
  ++taken_;
  stopped_ = false;
}

std::optional<PageData> PagerCore::take_page() {
  auto page = rest_of_page();
  if (page) skip_page();
  return page;
}

std::optional<Value> PagerCore::next_item() {
  while (!buffered() && advance()) {
  }
  return take_item();
}

std::optional<PageData> PagerCore::next_page() {
  while (!buffered()) {
    if (!advance()) return std::nullopt;
    if (page_) break;
  }
  return take_page();
}

std::optional<Value> PagerCore::first_item() {
  while (fetched_ == 0 || (!first_ && !ended_)) advance();
  return known_first();
}

std::optional<Value> PagerCore::known_first() const {
  if (!first_) return std::nullopt;
  return checked(*first_, first_page_);
}

std::optional<Verdict> PagerCore::verdict() const noexcept {
  const bool all_taken = ended_ && (!page_ || position_ == page_->items.size());
  if (stopped_ && !all_taken) return Verdict{false, "stopped"};
  if (!ended_) return std::nullopt;
  return Verdict{noticed_.empty(), noticed_};
}

void PagerCore::stop() noexcept {
  stopped_ = true;
  if (source_ != nullptr) source_->stop();
}

std::shared_ptr<PagerCore> make_pager_core(const PagerOptions& options) {
  return std::make_shared<PagerCore>(nullptr, options);
}
std::optional<Wanted> wanted_page(const PagerCore& core) noexcept { return core.wanted(); }
bool advance(PagerCore& core) { return core.advance(); }
void accept_page(PagerCore& core, const std::shared_ptr<const Document>& document) { core.accept(document); }
std::optional<Value> take_item(PagerCore& core) { return core.take_item(); }
std::optional<PageData> take_page(PagerCore& core) { return core.take_page(); }
std::int64_t taken_items(const PagerCore& core) noexcept { return core.taken(); }
PagerMark mark(const PagerCore& core) noexcept { return core.mark(); }
void take_back(PagerCore& core, const PagerMark& before, const PagerMark& after) noexcept {
  core.take_back(before, after);
}
std::shared_ptr<const PagerCore> snapshot(const PagerCore& core) { return std::make_shared<PagerCore>(core); }
void restore(PagerCore& core, const PagerCore& snapshot) { core = snapshot; }
std::optional<Value> known_first(const PagerCore& core) { return core.known_first(); }
bool knows_first(const PagerCore& core) noexcept { return core.knows_first(); }
std::optional<Value> next_item(PagerCore& core) { return core.next_item(); }
std::optional<PageData> next_page(PagerCore& core) { return core.next_page(); }
std::optional<Value> first_item(PagerCore& core) { return core.first_item(); }
bool buffered(const PagerCore& core) noexcept { return core.buffered(); }
std::optional<std::int64_t> list_total(const PagerCore& core) noexcept { return core.total(); }
std::int64_t fetched_pages(const PagerCore& core) noexcept { return core.fetched_pages(); }
std::optional<Verdict> verdict(const PagerCore& core) noexcept { return core.verdict(); }
std::string list_state(const PagerCore& core) { return core.state(); }
void stop(PagerCore& core) noexcept { core.stop(); }

}  // namespace detail

}  // namespace billcore
