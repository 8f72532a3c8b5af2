// The REST client for an event loop: nothing blocks, and no thread is made.
//
// The loop watches one descriptor and calls process() when it is readable; that is all it has to do. Retries, deadlines and
// errors are those of Client. Threads: that of the loop only; one AsyncClient for each loop. Service interface: Endpoints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "billcore/client.hpp"
#include "billcore/operation.hpp"

namespace billcore {

/// The pages of a list on their way in an event loop, for a pager in steps (pager.hpp). Threads: that of the loop, the end
/// of its life included.
class AsyncPages {
 public:
  struct Parts;
  explicit AsyncPages(std::unique_ptr<Parts> parts);
  ~AsyncPages();
  AsyncPages(const AsyncPages&) = delete;
  AsyncPages& operator=(const AsyncPages&) = delete;

  /// Gives the pager the page that it wants, if that has come; false when it has not, or when the list is at its end. Throws
  /// what came in its place.
  bool advance();
  /// Asks for what the pager may want soon.
  void announce();
  /// Calls `ready` once, from process(), when the page that is wanted has come in whatever form; its time-out runs until then.
  void wait(std::function<void()> ready);
  /// Nobody waits any more: the page that was waited for is given up, others stay on their way.
  void give_up() noexcept;

 private:
  std::unique_ptr<Parts> parts_;
};

class AsyncClient {
 public:
  using Done = std::function<void(Completed&)>;
  using Ticket = std::uint64_t;

  /// With the options of `client`, and connections of its own. Error(internal) when no descriptor can be had.
  explicit AsyncClient(const Client& client);
  /// With the options of `client`, over the connections of `beside`.
  AsyncClient(const Client& client, const AsyncClient& beside);

  /// Readable when process() has something to do. It stays the same, and belongs to the connections.
  [[nodiscard]] int descriptor() const;
  /// Moves on what can be moved without waiting. Operations that have ended are told so from here; what their functions
  /// throw is ignored.
  void process();
  /// Begins an operation. `done` is called once, never from here, unless it is cancelled. Error(config) after
  /// Client::close(), Error(invalid_argument) for a wrong timeout.
  [[nodiscard]] Ticket start(Operation operation, const CallOptions& call, Done done);
  /// What became of an operation that was cancelled. Its `done` is not called.
  struct Cancelled {
    bool outcome_unknown = false;  // a write that had begun to leave
    std::string text;              // one line about it
  };
  Cancelled cancel(Ticket ticket);
  /// Where the pages of a pager come from; nothing is asked for yet. Error(config) after Client::close().
  [[nodiscard]] std::unique_ptr<AsyncPages> pages(std::shared_ptr<detail::PagerCore> pager, ListOperation list,
                                                  const CallOptions& call) const;
  /// How many operations have not ended, and how many lists are waited for.
  [[nodiscard]] std::size_t running() const noexcept;

 private:
  friend struct AsyncPages::Parts;
  struct Loop;
  detail::SessionPtr session_;
  std::shared_ptr<Loop> loop_;
};

}  // namespace billcore
