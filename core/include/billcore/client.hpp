// The REST client. The client's operations are in groups (groups.hpp).
//
// A Client and its groups share one set of connections; copies are cheap. Threads: any number of threads may use a
// Client at once. A failed call throws billcore::Error; ErrorDetail::outcome_unknown says whether a write may have
// happened. Service interface: Endpoints; Authentication; Errors.
#pragma once

#include <string_view>

#include "billcore/groups.hpp"
#include "billcore/operation.hpp"
#include "billcore/options.hpp"
#include "billcore/response.hpp"

namespace billcore {

class Client : public detail::Groups {
 public:
  /// Makes a client, which connects with its first call. Throws Error(config) for an invalid option.
  explicit Client(ClientOptions options);

  /// Sends a request for which no group has a method. `method` is GET, POST, PUT, PATCH or DELETE. `path` is relative
  /// to the base URL, starts with a slash and is already encoded. Every method except GET is a write, which the
  /// client sends at most once.
  Response request(std::string_view method, std::string_view path, const RequestOptions& options = {},
                   const CallOptions& call = {}) const;
  /// Returns a client that has these options changed and shares everything else, including the connections. Throws
  /// Error(config) for an invalid option.
  [[nodiscard]] Client with_options(const ClientChanges& changes) const;
  /// Closes idle connections; calls in flight finish, later calls throw Error(config). On a client made by
  /// with_options(), which does not own the connections, close() leaves them open and returns false.
  bool close() noexcept;

 private:
  friend class AsyncClient;
  friend struct internal::Access;
  Client(const Client& original, const ClientChanges& changes);
};

}  // namespace billcore
