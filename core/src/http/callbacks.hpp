// libcurl's callbacks for requests in flight. Only for files in http/ that use libcurl.
#pragma once

#include "http/in_flight.hpp"

namespace billcore::detail {

/// Registers the callbacks on the request's handle. Throws the same errors as set() in handles.hpp.
void set_callbacks(InFlight& flight);
/// For an event loop: makes libcurl report the sockets and the timer that it waits for.
void set_event_callbacks(Engine::Impl& engine) noexcept;

}  // namespace billcore::detail
