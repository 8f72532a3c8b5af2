// The pages of a list on their way: some are asked for ahead of their time, so that they are there when they are wanted.
// Internal.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "billcore/operation.hpp"
#include "call/session.hpp"

namespace billcore::detail {

/// Threads: one at a time. It never waits; whoever does drives the engine.
class PageFetcher {
 public:
  PageFetcher(SessionPtr session, Engine& engine, ListOperation list, CallOptions options);
  ~PageFetcher();
  PageFetcher(const PageFetcher&) = delete;
  PageFetcher& operator=(const PageFetcher&) = delete;

  /// The pages from `first` on that are wanted now or soon, `count` of them and none behind `last`: those that are not on
  /// their way are asked for, others are cancelled. After a 429 fewer.
  void request(std::int64_t first, std::int64_t last, std::int64_t count);
  /// Somebody waits for this page from now on, which request() was told of first: its time-out runs until it has come, or
  /// until nobody waits any more. `ready` (which may be empty) is called when it has come.
  void expect(std::int64_t page, std::function<void()> ready);
  void expect_nothing() noexcept;
  /// The same, and the page that was waited for is cancelled.
  void cancel() noexcept;
  /// Has it come, in whatever form? One that broke while nobody looked is asked for again instead.
  [[nodiscard]] bool has(std::int64_t page);
  /// Gives it, or throws what came in its place; either way it is forgotten.
  [[nodiscard]] std::shared_ptr<const Document> take(std::int64_t page);
  /// To be called before the engine is driven: what was on its way while nobody did so for long may have died of that.
  void notice_pause() noexcept;
  /// Cancels everything.
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
  std::deque<std::unique_ptr<Page>> pages_;  // by number
  std::int64_t allowed_;                     // at once
  Page* expected_ = nullptr;
  std::function<void()> ready_;
  SteadyClock::time_point tended_;
};

}  // namespace billcore::detail
