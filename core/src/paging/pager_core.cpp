#include "paging/pager_core.hpp"

#include <algorithm>
#include <utility>

#include "billcore/error.hpp"
#include "call/answer.hpp"
#include "paging/pager_state.hpp"

namespace billcore::detail {
namespace {

constexpr std::size_t least_window = 18;       // pages
constexpr std::size_t most_remembered = 4096;  // maximum number of ids in a state, enough for 18 pages of 200 ids

// The `total` of a page: the number of records in the whole list. nullopt if it is not an integer, or negative.
std::optional<std::int64_t> total_of(const Value& pagination) noexcept {
  std::int64_t total = 0;
  if (!pagination.document()->int64_member(pagination.node(), "total", total) || total < 0) return std::nullopt;
  return total;
}

// A hash that identifies an item; the ids 7 and "7" differ. 0 for an item without an id.
std::uint64_t id_hash(const Document& document, const Node* item) {
  std::uint64_t hash = 0;
  std::string_view name;
  std::int64_t number = 0;
  if (document.text_member(item, "id", name)) {
    hash = text_hash(name);
  } else if (document.int64_member(item, "id", number)) {
    hash = number_hash(static_cast<std::uint64_t>(number));
  } else if (const Node* id = document.member(item, "id"); id != nullptr && kind(id) == Value::Kind::integer) {
    hash = text_hash(integer_text(id));
  } else {
    return 0;
  }
  return std::max<std::uint64_t>(hash, 1);
}

std::vector<std::uint64_t> ids_of(const Document& document, const Node* data) {
  std::vector<std::uint64_t> ids;
  ids.reserve(size(data));
  const Node* item = first(data);
  for (std::size_t left = size(data); left > 0; --left, item = next(item)) ids.push_back(id_hash(document, item));
  return ids;
}

}  // namespace

PagerCore::PagerCore(const PagerOptions& options)
    : strict_(options.strict),
      window_(std::max(least_window, static_cast<std::size_t>(options.concurrency) * 2 + 2)),
      list_(options.list),
      path_(options.path),
      plan_(options.first_page, options.concurrency),
      drift_(options.strict ? 0 : window_, options.first_page == 1) {
  if (options.first_page < 1) {
    throw Error(ErrorCode::invalid_argument, "page is " + std::to_string(options.first_page) + ": pages count from 1");
  }
  if (options.resume) resume(*options.resume);
}

void PagerCore::resume(std::string_view text) {
  if (plan_.first_page() != 1) {
    throw Error(ErrorCode::invalid_argument, "page and resume cannot be combined: the state knows its page");
  }
  const auto state = read_state(text);
  if (!state) throw Error(ErrorCode::invalid_argument, "resume is not the state of a pager: pass it unchanged");
  if (state->list != list_) {
    throw Error(ErrorCode::invalid_argument, "resume is the state of another list: pass the same arguments with it");
  }
  if (strict_) {
    throw Error(ErrorCode::invalid_argument,
                "resume and strict cannot be combined: the second reading needs all of the first");
  }
  plan_.resume_at(state->page);
  fetched_ = state->fetched;
  const auto seen = fetched_ > 0 ? std::optional(state->seen) : std::nullopt;
  drift_.resume(state->ids, seen, state->noticed, state->total, state->counted);
  passed_ = state->ids;
  resumed_ids_ = passed_.size();
  given_ = state->seen;
  shift_ = state->shift;
  taken_total_ = state->total;
}

std::string PagerCore::state() const {
  PagerState out;
  out.list = list_;
  out.fetched = fetched_;
  out.total = total();
  out.shift = shift(drift_.total());
  if (second_ && fetched_ > first_reading_.fetched) {
    // The second pass of a strict list cannot be resumed, because it needs all ids of the first pass. During the second
    // pass, state() therefore returns the position after the first pass.
    const bool whole = plan_.has_ended() && !buffered();
    out.page = first_reading_.pages;
    out.seen = -1;
    out.noticed = whole ? drift_.noticed() : "stopped";
    out.ids = first_reading_.ids;
    forget(out.ids, 1);
    return write_state(out);
  }
  out.page = second_ ? first_reading_.pages : plan_.due();
  out.noticed = second_ ? first_reading_.noticed : drift_.noticed();
  out.counted = second_ ? first_reading_.counted : drift_.counted();
  out.ids = passed_;
  out.seen = given_.value_or(0);
  if (cursor_.has_page()) {
    if (out.counted) *out.counted -= static_cast<std::int64_t>(cursor_.left());
    append_passed(out.ids);
    if (cursor_.left() > 0) out.page = cursor_.number();
    // After a resume, a record without an id is yielded again when its page is read again.
    const auto taken = cursor_.taken_ids();
    const bool all_have_ids = std::find(taken.begin(), taken.end(), 0U) == taken.end();
    if (out.page == cursor_.number()) out.seen = all_have_ids ? cursor_.given_ids() : -1;
  }
  if (plan_.is_rereading()) out.seen = -1;
  forget(out.ids, 1);
  return write_state(out);
}

// first() must send only one request, so prefetching starts only when a second item is taken. The second pass of a
// strict list fetches one page at a time; otherwise a record could move unnoticed to a page that was already read.
bool PagerCore::may_prefetch() const noexcept { return taken_ > 0 && fetched_ > 0 && !second_; }

std::optional<Wanted> PagerCore::wanted() const noexcept { return plan_.wanted(may_prefetch()); }

std::optional<Wanted> PagerCore::ahead() const noexcept { return plan_.ahead(may_prefetch()); }

// Appends the ids of those records of the current page that the caller has got. A record can be on two pages, so the
// caller may have got it from an earlier page.
void PagerCore::append_passed(Ids& out) const {
  const auto& kept = cursor_.ids();
  const auto left = cursor_.left_ids();
  auto next = kept.begin();
  for (const auto id : page_ids_) {
    if (next != kept.end() && *next == id) {
      if (next++ - kept.begin() < static_cast<std::ptrdiff_t>(cursor_.position())) out.push_back(id);
    } else if (std::find(left.begin(), left.end(), id) == left.end()) {  // the page may contain an id twice
      out.push_back(id);
    }
  }
}

// Number of ids to remember if each page has `page_size` records.
std::size_t PagerCore::in_window(std::size_t page_size) const noexcept {
  return std::min(most_remembered, std::min(most_remembered, window_) * page_size);
}

// If the number of ids exceeds `times` times the size of the window, keeps only the newest ids, as many as the window
// has. The first kept id becomes 0, which stands for the removed ids.
void PagerCore::forget(Ids& ids, std::size_t times) const noexcept {
  const auto most = std::max(in_window(page_size_), std::min(most_remembered, resumed_ids_));
  if (ids.size() <= times * most) return;
  ids.erase(ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(most));
  ids.front() = 0;
}

// Whether records were yielded that would not be recognised if they were received again.
bool PagerCore::has_forgotten() const noexcept {
  return std::cmp_greater(fetched_, window_) || passed_.size() > in_window(page_size_) ||
         std::find(passed_.begin(), passed_.end(), 0U) != passed_.end();
}

// Number of records that were already read but appear again on the following pages, because the list has grown.
// `total` is the value of `total` on the latest page.
std::int64_t PagerCore::shift(std::optional<std::int64_t> total) const noexcept {
  const auto grown = total && taken_total_ ? *total - *taken_total_ : 0;
  return std::clamp<std::int64_t>(shift_ + std::clamp(grown, -most_shift, most_shift), 0, most_shift);
}

// Detects whether records may be yielded twice. After the list has grown, or after a resume, the next page begins
// with records that were already read. A record that was already read, but is not recognised, is yielded again.
void PagerCore::look_for_repeats(const Ids& ids) noexcept {
  const auto given = std::exchange(given_, std::nullopt);
  if (strict_) return;
  const auto size = static_cast<std::int64_t>(ids.size());
  const auto passed = shift(drift_.total()) + (given ? std::min(*given < 0 ? size : *given, size) : 0);
  const auto end = ids.begin() + std::min(passed, size);
  const auto unknown = [this](std::uint64_t id) { return id == 0 || !drift_.knows(id); };
  if (passed > 0 && has_forgotten() && std::any_of(ids.begin(), end, unknown)) drift_.notice_repeats();
  const bool moved_by_an_unknown_number = given && drift_.lacks_total() && !passed_.empty();
  if (moved_by_an_unknown_number && std::find(ids.begin(), ids.end(), passed_.back()) == ids.end()) {
    drift_.notice_repeats();
  }
  shift_ = std::clamp<std::int64_t>(passed - size, 0, most_shift);
  taken_total_ = drift_.total();
}

void PagerCore::keep_new_items(const Node* data, const Ids& ids) {
  const bool rereading = plan_.is_rereading();
  page_size_ = std::max(page_size_, ids.size());
  if (!rereading) drift_.compare(ids, !second_ || plan_.due() > first_reading_.pages);
  // Record the page only after compare(), which may throw: the same page is then requested again.
  const bool of_new_page = plan_.take(cursor_.number());
  drift_.begin_page(second_ || of_new_page);
  if (!rereading) look_for_repeats(ids);
  const Node* item = first(data);
  for (const auto id : ids) {
    const Node* here = std::exchange(item, next(item));
    const bool is_object = id != 0 || kind(here) == Value::Kind::object;  // an item that has an id is an object
    if (!is_object) drift_.notice("undecodable_item");
    // An item without an id cannot be recognised later, so it is yielded only when its page is read for the first
    // time.
    const auto unknown = rereading || second_ ? RecentIds::Seen::before : RecentIds::Seen::never;
    const auto seen = id == 0 ? unknown : drift_.see(id);
    const bool is_new = seen == RecentIds::Seen::never;
    if (second_ ? seen != RecentIds::Seen::in_this_reading : is_new) drift_.count_record();
    if (is_new) {
      cursor_.keep(here, id, is_object);
    } else if (id != 0) {
      cursor_.note_known();
    }
  }
  if (strict_) order_.add(cursor_.number(), ids, cursor_.left());
}

// Allocates the memory for a page before the page changes any state. If memory ran out after a part of the state was
// changed, the list would seem to have changed when the page is requested again.
void PagerCore::reserve(const Ids& ids, PageData& page, std::int64_t pages_ahead) {
  PageCursor::reserve(page, ids.size());
  cursor_.reserve(ids.size());
  // At the first page, reserve no memory for later pages, because many lists are not read further.
  const auto ahead = std::min(fetched_ > 0 ? pages_ahead : 0, static_cast<std::int64_t>(window_));
  drift_.reserve(ids.size(), static_cast<std::size_t>(ahead) * ids.size());
  if (strict_ && !second_) first_reading_.ids.reserve(passed_.size() + ids.size());
}

void PagerCore::read(const std::shared_ptr<const Document>& document) {
  const Node* data = member(document->root(), "data");
  PageData page{document, {}, Pagination(Value(document, member(document->root(), "pagination")))};
  const auto current = page.pagination.current_page();
  const auto last = page.pagination.total_pages();
  const auto total = total_of(page.pagination.value());
  const auto number = plan_.due();

  // The list has become shorter if the requested page is after the present last page.
  const bool shrunk = fetched_ > 0 && number > plan_.first_page() && number > last;
  if (current != number && !shrunk) {
    throw Error(ErrorCode::pagination,
                "received page " + std::to_string(current) + " instead: the service does not honour `page`");
  }
  if (size(data) == 0 && number < last) {
    throw Error(ErrorCode::pagination, "the page is empty, yet says that there are " + std::to_string(last) + " pages");
  }
  auto ids = ids_of(*document, data);
  reserve(ids, page, last > number ? last - number : 0);
  ++fetched_;
  const bool rereading = plan_.is_rereading();
  const auto shifted = std::min(shift(total), static_cast<std::int64_t>(ids.size()));
  const bool has_border = !rereading && fetched_ > 1;
  const auto move = has_border ? drift_.move_before(ids, total, shrunk, second_, shifted) : Move::none;
  drift_.set_total(total);
  if (!second_ && number > plan_.first_page() && drift_.lacks_total()) drift_.notice("no_total");
  plan_.came(last);
  if (plan_.must_read_again(move, number)) {
    if (move == Move::other && given_) given_ = 0;
    return;
  }
  if (move == Move::none && !rereading) plan_.speed_up();
  cursor_.open(std::move(page), number);
  keep_new_items(data, ids);
  if (rereading) {
    // Keep only the ids of the new items: the others were recorded when the page was read for the first time.
    ids.assign(cursor_.ids().begin(), cursor_.ids().end());
    if (cursor_.left() == 0) cursor_.close();
  }
  page_ids_ = std::move(ids);
  if (!plan_.go_on()) end_reading();
}

void PagerCore::accept(const std::shared_ptr<const Document>& document) {
  stopped_ = false;
  if (cursor_.has_page()) {
    passed_.insert(passed_.end(), page_ids_.begin(), page_ids_.end());
    forget(passed_, 2);  // only at twice the window's size, because erasing moves all remaining ids
  }
  page_ids_.clear();
  cursor_.close();
  const auto number = plan_.due();
  try {
    read(document);
  } catch (const Error& error) {
    cursor_.close();
    throw about_page(number, *document, error);
  }
  if (!first_ && cursor_.left() > 0) first_.emplace(cursor_.page().document, cursor_.page().items.front());
}

// The error of a page that was refused, in the same form as the error of a page that failed to arrive.
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
  // If a field that the library needs is absent, the answer is malformed. The code missing_field is only for fields
  // that the caller reads.
  const auto code = error.code() == ErrorCode::missing_field ? ErrorCode::decode : error.code();
  return {code, std::move(message), std::move(detail)};
}

Error PagerCore::late(std::int64_t page, ErrorDetail detail) const {
  detail.method = "GET";
  detail.path = path_;
  return {ErrorCode::timeout,
          subject_of_page(path_, page, detail.attempts) +
              "total_timeout has passed; resume the list, or raise total_timeout",
          std::move(detail)};
}

std::optional<Value> PagerCore::take_item() {
  if (!buffered()) return std::nullopt;
  stopped_ = false;
  ++taken_;
  auto item = cursor_.take();
  return cursor_.may_hold_other_than_objects() ? checked(std::move(item), cursor_.number()) : std::move(item);
}

// An item that is not an object is detected when its page is read, and reported when it is taken.
Value PagerCore::checked(Value item, std::int64_t number) const {
  if (item.is_object()) return item;
  throw about_page(number, *item.document(), wrong_kind(item, "an object"));
}

void PagerCore::take_back(const PagerMark& before, const PagerMark& after) noexcept {
  if (!(mark() == after) || before.fetched != fetched_) return;
  taken_ = before.taken;
  cursor_.set_position(before.position);
  stopped_ = before.stopped;
}

std::optional<PageData> PagerCore::rest_of_page() {
  if (!cursor_.has_page()) return std::nullopt;
  // An item that is not an object is reported once; the next call returns the page without that item.
  if (const auto odd = cursor_.drop_odd()) static_cast<void>(checked(*odd, cursor_.number()));
  return cursor_.rest();
}

void PagerCore::skip_page() noexcept {
  cursor_.skip_rest();
  ++taken_;
  stopped_ = false;
}

void PagerCore::skip_items(std::size_t count) noexcept {
  cursor_.set_position(cursor_.position() + count);
  taken_ += static_cast<std::int64_t>(count);
  stopped_ = false;
}

std::optional<PageData> PagerCore::take_page() {
  auto page = rest_of_page();
  if (page) skip_page();
  return page;
}

std::optional<Value> PagerCore::known_first() const {
  if (!first_) return std::nullopt;
  return checked(*first_, plan_.first_page());
}

}  // namespace billcore::detail
