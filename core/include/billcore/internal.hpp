// The one way from the public classes to what is behind them, for the bindings that are built with the library. Not installed,
// and no part of the interface: it changes with the bindings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "billcore/async_client.hpp"
#include "billcore/client.hpp"
#include "billcore/detail/list.hpp"
#include "billcore/operation.hpp"
#include "billcore/pager.hpp"

namespace billcore::internal {

using Flow = std::shared_ptr<detail::PageFlow>;

struct Access {
  [[nodiscard]] static const detail::SessionPtr& session(const Client& client) noexcept { return client.session_; }
  [[nodiscard]] static const detail::SessionPtr& session(const AsyncClient& client) noexcept { return client.session_; }
  [[nodiscard]] static const Flow& flow(const AnyPager& pager) noexcept { return pager.flow_; }
  [[nodiscard]] static const std::shared_ptr<detail::Loop>& loop(const AsyncClient& client) noexcept {
    return client.loop_;
  }
};

/// Error(config) after Client::close().
void require_open(const Client& client);
/// Sends any operation, and gives its end to `read`, which is called once.
void send(const Client& client, const Operation& operation, const CallOptions& call,
          const std::function<void(Completed&)>& read);

// ---- Lists, apart from the type of their items --------------------------------------------------------------------------------

/// One that waits for its pages. What tells it from other lists, and its concurrency, are filled in. Error(invalid_argument) for
/// a page below 1 and for a wrong state.
[[nodiscard]] Flow list(const Client& client, ListOperation list, detail::PagerOptions options,
                        const CallOptions& call);
/// One that is read in event loops: its pages come from a LoopPages.
[[nodiscard]] Flow list_for_loops(const Client& client, const ListOperation& list, detail::PagerOptions options);
/// One without a source, in which pages are put.
[[nodiscard]] Flow list_without_source(const detail::PagerOptions& options);

/// Takes the page that is wanted, and asks for those that may be wanted soon. Throws what came in place of the page, which is
/// wanted again then.
detail::Step advance(detail::PageFlow& list);
/// What is at hand.
[[nodiscard]] std::optional<Value> take_item(detail::PageFlow& list);
[[nodiscard]] std::optional<detail::PageData> take_page(detail::PageFlow& list);
[[nodiscard]] bool buffered(const detail::PageFlow& list) noexcept;
/// Nothing of a list that has none, or whose first page was not read.
[[nodiscard]] std::optional<Value> known_first(const detail::PageFlow& list);
[[nodiscard]] bool knows_first(const detail::PageFlow& list) noexcept;
[[nodiscard]] detail::PagerMark mark(const detail::PageFlow& list) noexcept;
/// Undoes taking, for what never reached its reader: back to `before`, unless the list has moved since `after`.
void take_back(detail::PageFlow& list, const detail::PagerMark& before, const detail::PagerMark& after) noexcept;
/// To go back over several pages: those are fetched again.
[[nodiscard]] std::shared_ptr<const detail::PagerCore> snapshot(const detail::PageFlow& list);
void restore(detail::PageFlow& list, const detail::PagerCore& snapshot);

/// Takes from a list of orders, latest first, those at hand that were not made before `since`. True when an
/// older one was reached: the rest of the list is not wanted.
[[nodiscard]] bool take_charges(detail::PageFlow& orders, Instant since, std::vector<Value>& out);

/// The pages of a list on their way in an event loop; the list takes its pages from here while this lives. Threads: that of the
/// loop, the end of its life included.
class LoopPages {
 public:
  /// Nothing is asked for yet. Error(config) after Client::close().
  LoopPages(const AsyncClient& client, Flow list, ListOperation operation, const CallOptions& call);
  ~LoopPages();
  LoopPages(const LoopPages&) = delete;
  LoopPages& operator=(const LoopPages&) = delete;

  /// Calls `ready` once, from process(), when the page that advance() said is pending has come in whatever form; its time-out
  /// runs until then.
  void wait(std::function<void()> ready);
  /// Nobody waits any more: the page that was waited for is cancelled, others stay on their way.
  void cancel() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace billcore::internal
