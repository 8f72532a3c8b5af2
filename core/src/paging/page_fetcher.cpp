#include "paging/page_fetcher.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "call/retry.hpp"

namespace billcore::detail {
struct PageFetcher::Page {
  Page(std::int64_t which, Operation what, const ClientSettings& settings, Engine& engine, Hooks* hooks)
      : number(which), operation(std::move(what)), call(settings, engine, operation, std::nullopt, hooks) {}

  std::int64_t number;
  Operation operation;
  Call call;
  std::optional<Answer> answer;  // parsed only when needed, because the document takes four times the answer's memory
  std::exception_ptr error;
  bool here = false;
  bool neglected = false;  // the page was in flight during a pause in which the engine was not driven
};

PageFetcher::PageFetcher(SessionPtr session, Engine& engine, ListOperation list, CallOptions options)
    : session_(std::move(session)),
      engine_(engine),
      list_(std::move(list)),
      options_(std::move(options)),
      allowed_(std::numeric_limits<std::int64_t>::max()),
      tended_(SteadyClock::now()) {}

PageFetcher::~PageFetcher() = default;

PageFetcher::Page* PageFetcher::find(std::int64_t number) const noexcept {
  const auto found =
      std::find_if(pages_.begin(), pages_.end(), [number](const auto& page) { return page->number == number; });
  return found == pages_.end() ? nullptr : found->get();
}

std::unique_ptr<PageFetcher::Page> PageFetcher::begin(std::int64_t number) {
  session_->require_open();
  auto page =
      std::make_unique<Page>(number, list_.page(number), session_->settings(), engine_, session_->hooks(options_));
  page->call.start([this, own = page.get()] { ended(*own); });
  return page;
}

void PageFetcher::ended(Page& page) noexcept {
  try {
    page.answer = page.call.answer();
    require_success(page.call.request(), *page.answer);
  } catch (...) {
    page.error = std::current_exception();
  }
  allowed_ = allowed_pages(allowed_, static_cast<std::int64_t>(pages_.size()), page.call.was_limited());
  page.here = true;
  if (expected_ != &page) return;
  if (const auto ready = std::exchange(ready_, nullptr)) ready();  // the callback may change `expected_`
}

void PageFetcher::notice_pause() noexcept {
  const auto now = SteadyClock::now();
  if (now - std::exchange(tended_, now) < noticeable_pause) return;
  for (const auto& page : pages_) page->neglected = page->neglected || !page->here;
}

void PageFetcher::request(std::int64_t first, std::int64_t last, std::int64_t count) {
  notice_pause();
  count = std::clamp<std::int64_t>(count, 1, allowed_);
  // Request page `first` even if it is after `last`.
  const auto end = std::max(
      first, std::min(last, first > std::numeric_limits<std::int64_t>::max() - count ? last : first + count - 1));
  if (expected_ != nullptr && (expected_->number < first || expected_->number > end)) expect_nothing();
  std::erase_if(pages_, [&](const auto& page) { return page->number < first || page->number > end; });
  for (std::int64_t number = first;; ++number) {
    if (find(number) == nullptr) {
      auto page = begin(number);
      const auto place =
          std::find_if(pages_.begin(), pages_.end(), [number](const auto& other) { return other->number > number; });
      pages_.insert(place, std::move(page));
    }
    if (number == end) return;
  }
}

void PageFetcher::expect(std::int64_t number, const Deadline& until, std::function<void()> ready) {
  until_ = until;
  static_cast<void>(has(number));
  Page* const page = find(number);
  page->call.expire_at(earlier(session_->deadline(options_), until_));
  expected_ = page;
  ready_ = std::move(ready);
}

void PageFetcher::expect_nothing() noexcept {
  if (expected_ != nullptr) expected_->call.expire_at(std::nullopt);
  expected_ = nullptr;
  ready_ = nullptr;
  tended_ = SteadyClock::now();
}

void PageFetcher::cancel() noexcept {
  auto* const expected = expected_;
  if (expected != nullptr) static_cast<void>(expected->call.cancel());
  expect_nothing();
  std::erase_if(pages_, [expected](const auto& page) { return page.get() == expected; });
}

void PageFetcher::clear() noexcept {
  expect_nothing();
  pages_.clear();
}

bool PageFetcher::has(std::int64_t number) {
  const auto place =
      std::find_if(pages_.begin(), pages_.end(), [number](const auto& page) { return page->number == number; });
  if (place == pages_.end() || !(*place)->here) return false;
  if (!(*place)->error || !(*place)->neglected) return true;
  const bool expected = expected_ == place->get();
  *place = begin(number);
  if (expected) {
    expected_ = place->get();
    expected_->call.expire_at(earlier(session_->deadline(options_), until_));
  }
  return false;
}

std::shared_ptr<const Document> PageFetcher::take(std::int64_t page) {
  const auto place =
      std::find_if(pages_.begin(), pages_.end(), [page](const auto& other) { return other->number == page; });
  const auto taken = std::move(*place);
  pages_.erase(place);
  if (expected_ == taken.get()) expect_nothing();
  if (taken->error) std::rethrow_exception(taken->error);
  return read_list(taken->call.request(), *std::move(taken->answer));
}

}  // namespace billcore::detail
