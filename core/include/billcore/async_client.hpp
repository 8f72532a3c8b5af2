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

namespace detail {
struct Loop;
}

class AsyncClient {
 public:
  using Done = std::function<void(Completed&)>;
  /// Names an operation that was begun.
  using CallId = std::uint64_t;

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
  [[nodiscard]] CallId start(Operation operation, const CallOptions& call, Done done);
  /// What became of an operation that was cancelled. Its `done` is not called.
  struct Cancelled {
    bool outcome_unknown = false;  // a write that had begun to leave
    std::string text;              // one line about it
  };
  Cancelled cancel(CallId id);
  /// How many operations have not ended, and how many lists are waited for.
  [[nodiscard]] std::size_t running() const noexcept;

 private:
  friend struct internal::Access;
  std::shared_ptr<detail::Session> session_;
  std::shared_ptr<detail::Loop> loop_;
};

}  // namespace billcore
