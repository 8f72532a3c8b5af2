// Prints libcurl's trace on stderr, for debugging this library. Only in builds with BILLCORE_TRACE (the preset dev
// has it).
#pragma once

#include <curl/curl.h>

namespace billcore::detail {

/// Turns the trace of a handle on if the environment variable BILLCORE_TRACE is set. The trace shows headers, which may
/// contain a proxy's password, but neither the API key nor bodies.
void trace_if_asked(CURL* easy);

}  // namespace billcore::detail
