// What libcurl calls while a request is under way. For the files of this room that know libcurl.
#pragma once

#include "http/in_flight.hpp"

namespace billcore::detail {

/// Makes libcurl report about the handle of a request to it. Throws what set() does.
void set_callbacks(InFlight& flight);
/// Makes libcurl say what it waits for, in an event loop.
void set_event_callbacks(Engine::Impl& engine) noexcept;

}  // namespace billcore::detail
