// Gives the bindings access to the internals of the public classes, mainly to a list's PageFlow. The bindings are
// built together with the library. This header is not installed and not part of the interface: it changes whenever
// the bindings need it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "billcore/async_client.hpp"
#include "billcore/charges.hpp"
#include "billcore/client.hpp"
#include "billcore/detail/list.hpp"
#include "billcore/many.hpp"
#include "billcore/operation.hpp"
#include "billcore/pager.hpp"
#include "client/many.hpp"
#include "paging/page_flow.hpp"

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

/// Throws Error(config) after Client::close().
void require_open(const Client& client);
/// The base URL after validation, without a slash at its end.
[[nodiscard]] const std::string& base_url(const Client& client) noexcept;
/// The time-out that applies to a call with these options.
[[nodiscard]] std::chrono::milliseconds timeout(const Client& client, const CallOptions& call);
[[nodiscard]] std::chrono::milliseconds timeout(const AsyncClient& client, const CallOptions& call);
/// Sends any operation and calls `read` once with the completed operation.
void send(const Client& client, const Operation& operation, const CallOptions& call,
          const std::function<void(Completed&)>& read);
/// Sends an operation whose answer is a resource.
[[nodiscard]] Value resource(const Client& client, const Operation& operation, const CallOptions& call);
/// Sends an operation whose answer the service interface does not specify.
[[nodiscard]] Response response(const Client& client, const Operation& operation, bool raise_on_error,
                                const CallOptions& call);

/// Runs a search for charges.
[[nodiscard]] std::vector<Order> find_charges(const Client& client, ChargeSearch search, const CallOptions& call);

// ---- Event loops ----------------------------------------------------------------------------------------------------

/// False in a forked child: the calls and connections of the loop belong to its parent.
[[nodiscard]] bool is_ours(const AsyncClient& client) noexcept;
/// Makes the loop's descriptor readable. Threads: any.
void wake(const AsyncClient& client) noexcept;
/// Whether the loop's descriptor is readable.
[[nodiscard]] bool is_ready(const AsyncClient& client) noexcept;
/// Throws Error(config) after Client::close(), and Error(invalid_argument) for options that do not fit an event loop.
void require_startable(const AsyncClient& client, const CallOptions& call);
/// An AsyncClient with the options of `client` and the connections of `loop`. Throws Error(invalid_argument) if `client`
/// has other connections.
[[nodiscard]] AsyncClient beside(const Client& client, const AsyncClient& loop);

/// Something that a program waits for in an event loop: a page of a list, a record of a get_many(). Threads: the loop's
/// thread only, including destruction.
class LoopWait {
 public:
  LoopWait() = default;
  virtual ~LoopWait() = default;
  LoopWait(const LoopWait&) = delete;
  LoopWait& operator=(const LoopWait&) = delete;
  /// Calls `ready` once, from process().
  virtual void wait(std::function<void()> ready) = 0;
  /// Cancels the pending wait.
  virtual void cancel() noexcept = 0;
};

// ---- Lists, independent of the type of their items ----------------------------------------------------------------

/// A list that blocks until its pages arrive. Fills in the members of `options` that depend on the client: the
/// concurrency, and the fingerprint that identifies the list. Throws Error(invalid_argument) for a page below 1 and for
/// an invalid state.
[[nodiscard]] Flow list(const Client& client, ListOperation list, detail::PagerOptions options,
                        const CallOptions& call);
/// A list for event loops; an object of the class LoopPages supplies its pages.
[[nodiscard]] Flow list_for_loops(const Client& client, const ListOperation& list, detail::PagerOptions options);

/// Fetches the pages of a list in an event loop. The list takes its pages from this object as long as the object
/// exists. Threads: the loop's thread only, including destruction.
class LoopPages final : public LoopWait {
 public:
  /// Makes an object that has not requested a page yet. Throws Error(config) after Client::close().
  LoopPages(const AsyncClient& client, Flow list, ListOperation operation, const CallOptions& call);
  /// Makes an object for a list that blocks, with the options of that list. When the object is destroyed, the list
  /// blocks again. Throws Error(invalid_argument) if the list's client has other connections than `client`.
  LoopPages(const AsyncClient& client, const Flow& list);
  ~LoopPages() override;

  /// Waits until the page for which advance() returned `pending` has arrived or failed. The time-out of the page runs
  /// while the list waits.
  void wait(std::function<void()> ready) override;
  /// Also cancels the request for the page; the requests for other pages stay in flight.
  void cancel() noexcept override;
  /// Ends the wait, and cancels the requests for all pages.
  void stop() noexcept;
  /// The error of a wait that was cancelled.
  [[nodiscard]] Error interruption() const;

 private:
  struct State;
  LoopPages(const AsyncClient& client, detail::SessionPtr session, Flow list, ListOperation operation,
            const CallOptions& call);
  std::unique_ptr<State> state_;
};

// ---- get_many() -----------------------------------------------------------------------------------------------------

/// A get_many() that blocks. Throws Error(config) after Client::close(), and Error(invalid_argument) for invalid options.
[[nodiscard]] std::shared_ptr<detail::BlockingMany> many(const Client& client, const ManyOptions& options,
                                                         const CallOptions& call);

/// A get_many() in an event loop.
class LoopMany final : public LoopWait {
 public:
  /// Throws Error(config) after Client::close(), and Error(invalid_argument) for invalid options.
  LoopMany(const AsyncClient& client, const ManyOptions& options, const CallOptions& call);
  ~LoopMany() override;

  /// Whether add() may be called now.
  [[nodiscard]] bool wants() const noexcept;
  /// Starts a read. Throws Error(timeout) if the total time-out has passed, and Error(config) in a forked child.
  void add(detail::ReadKey key, Operation get);
  /// Whether no id is left without a result that was taken.
  [[nodiscard]] bool empty() const noexcept;
  /// Whether take() has a result.
  [[nodiscard]] bool has();
  /// The next result. Throws Error(timeout) instead, if the total time-out ended its call.
  [[nodiscard]] detail::ReadResult take();
  /// Waits until has() or empty() is true.
  void wait(std::function<void()> ready) override;
  /// The calls stay in flight.
  void cancel() noexcept override;
  /// The error of a wait that was cancelled.
  [[nodiscard]] Error interruption() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace billcore::internal
