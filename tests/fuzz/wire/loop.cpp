#include "loop.hpp"

#include <poll.h>

#include <utility>

namespace billcore::fuzz {
namespace {

// A Client makes a session that waits for random times between retries. The code below replaces the client's session
// with a session that waits for fixed times. The session is a private member, so the code uses an explicit template
// instantiation, which may name private members.
detail::SessionPtr& session_of(Client& client);
template <detail::SessionPtr detail::Groups::*Member>
struct Opened {
  friend detail::SessionPtr& session_of(Client& client) { return client.*Member; }
};
template struct Opened<&detail::Groups::session_>;

Client client_of(const ClientOptions& options, const detail::SessionPtr& session) {
  Client out(options);
  session_of(out) = session;
  return out;
}

}  // namespace

Loop::Loop(const ClientOptions& options, const detail::SessionPtr& session, const detail::SessionPtr& without_retries)
    : with_(client_of(options, session)), without_(client_of(options, without_retries), with_) {}

void Loop::turn(int milliseconds) {
  pollfd state{with_.descriptor(), POLLIN, 0};
  if (poll(&state, 1, milliseconds) > 0) with_.process();
}

}  // namespace billcore::fuzz
