// An event loop around AsyncClient: poll() on its one descriptor, and process().
#pragma once

#include <functional>
#include <memory>

#include "billcore/async_client.hpp"
#include "call/session.hpp"

namespace billcore::fuzz {

class Loop {
 public:
  using CallId = AsyncClient::CallId;

  /// Both share the connections of this loop.
  Loop(const ClientOptions& options, const detail::SessionPtr& session, const detail::SessionPtr& without_retries);

  [[nodiscard]] AsyncClient& client(bool retries) { return retries ? with_ : without_; }
  /// One turn: waits, at most this many milliseconds, then processes what is ready.
  void turn(int milliseconds);

 private:
  AsyncClient with_;
  AsyncClient without_;
};

}  // namespace billcore::fuzz
