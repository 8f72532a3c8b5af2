// Fetches and prefetches the pages of a list. Internal.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "billcore/operation.hpp"
#include "call/session.hpp"

namespace billcore::detail {

/// If a reader pauses for longer than this duration, requests may time out merely because the engine is not driven.
inline constexpr auto noticeable_pause = std::chrono::milliseconds(500);

/// Fetches pages with an engine that the caller drives, so PageFetcher itself never blocks. Threads: one at a time.
class PageFetcher {
 public:
  PageFetcher(SessionPtr session, Engine& engine, ListOperation list, CallOptions options);
  ~PageFetcher();
  PageFetcher(const PageFetcher&) = delete;
  PageFetcher& operator=(const PageFetcher&) = delete;

  /// Makes the pages from `first` on the wanted pages: `count` pages, but none after `last`. Requests the wanted pages
  /// that are not in flight, and cancels all other pages. After a 429, requests fewer pages.
  void request(std::int64_t first, std::int64_t last, std::int64_t count);
  /// Starts waiting for a page that was passed to request(). The time-out of the call begins now, and runs until the
  /// page arrives or the wait ends, but not beyond `until`. `ready` (may be empty) is called when the page arrives.
  void expect(std::int64_t page, const Deadline& until, std::function<void()> ready);
  void expect_nothing() noexcept;
  /// Ends the wait and cancels the request for the awaited page.
  void cancel() noexcept;
  /// Whether the page has arrived or failed. If the page failed because of a pause in which the engine was not
  /// driven, requests it again and returns false.
  [[nodiscard]] bool has(std::int64_t page);
  /// Returns a page, or throws the error of its request; removes the page in both cases.
  [[nodiscard]] std::shared_ptr<const Document> take(std::int64_t page);
  /// Call notice_pause() before the engine is driven. After a long pause, notice_pause() marks the pages in flight,
  /// which may time out merely because the engine was not driven.
  void notice_pause() noexcept;
  /// Cancels all pages.
  void clear() noexcept;
  [[nodiscard]] bool empty() const noexcept { return pages_.empty(); }

 private:
  struct Page;
  [[nodiscard]] Page* find(std::int64_t number) const noexcept;
  std::unique_ptr<Page> begin(std::int64_t number);
  void ended(Page& page) noexcept;

  SessionPtr session_;
  Engine& engine_;
  ListOperation list_;
  CallOptions options_;
  std::deque<std::unique_ptr<Page>> pages_;  // sorted by number
  std::int64_t allowed_;                     // maximum number of pages in flight
  Page* expected_ = nullptr;
  Deadline until_;  // of every page: the total time-out of the list
  std::function<void()> ready_;
  SteadyClock::time_point tended_;
};

}  // namespace billcore::detail
