// AsyncClient, the REST client for an event loop: it never blocks and starts no threads.
//
// The loop watches one descriptor and calls process() whenever the descriptor is readable. Retries, deadlines and
// errors are the same as with Client. Threads: only the loop's thread may use an AsyncClient; make one AsyncClient
// per loop. Service interface: Endpoints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "billcore/client.hpp"
#include "billcore/error.hpp"
#include "billcore/operation.hpp"

namespace billcore {

namespace detail {
struct Loop;
}

class AsyncClient {
 public:
  using Done = std::function<void(Completed&)>;
  /// Identifies an operation that was started.
  using CallId = std::uint64_t;

  /// Makes an AsyncClient with the options of `client` and connections of its own. Throws Error(internal) when the
  /// process has no free file descriptor.
  explicit AsyncClient(const Client& client);
  /// Makes an AsyncClient with the options of `client` and the connections of `beside`.
  AsyncClient(const Client& client, const AsyncClient& beside);

  /// A file descriptor that is readable when process() has work to do. The descriptor never changes and is owned by the
  /// connections.
  [[nodiscard]] int descriptor() const;
  /// Advances all operations as far as possible without waiting, and calls `done` for each finished operation.
  /// Exceptions from `done` are ignored.
  void process();
  /// Starts an operation. When the operation has finished, process() calls `done` once; start() never calls `done`. For
  /// a cancelled operation see Cancelled. Throws Error(config) after Client::close(), and Error(invalid_argument) for
  /// an invalid timeout.
  [[nodiscard]] CallId start(Operation operation, const CallOptions& call, Done done);
  /// Result of cancelling an operation. The operation's `done` is not called, unless cancel() was called within a hook
  /// of the same operation: then no further attempt is made, and `done` is called after the hook.
  struct Cancelled {
    bool outcome_unknown = false;  // a write that was at least partly sent, or that was cancelled within its own hook
    std::string text;              // one-line description
    /// The operation's Error(interrupted). nullopt if the operation had ended, or if its own hook cancels it. If memory
    /// runs out, Error(outcome_unknown) for a write that was at least partly sent, else nullopt.
    std::optional<Error> error = {};
  };
  Cancelled cancel(CallId id);
  /// Number of unfinished operations, plus the number of lists that wait for a page.
  [[nodiscard]] std::size_t running() const noexcept;

 private:
  friend struct internal::Access;
  std::shared_ptr<detail::Session> session_;
  std::shared_ptr<detail::Loop> loop_;
};

}  // namespace billcore
