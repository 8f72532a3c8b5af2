// An event loop around AsyncClient. The loop polls the client's one descriptor and calls process().
#pragma once

#include <functional>
#include <memory>

#include "billcore/async_client.hpp"
#include "call/session.hpp"

namespace billcore::fuzz {

class Loop {
 public:
  using CallId = AsyncClient::CallId;

  /// Makes two clients, with and without retries, which share the connections of the loop.
  Loop(const ClientOptions& options, const detail::SessionPtr& session, const detail::SessionPtr& without_retries);

  [[nodiscard]] AsyncClient& client(bool retries) { return retries ? with_ : without_; }
  /// Runs one turn: waits for at most this many milliseconds, then processes all pending events.
  void turn(int milliseconds);

 private:
  AsyncClient with_;
  AsyncClient without_;
};

}  // namespace billcore::fuzz
