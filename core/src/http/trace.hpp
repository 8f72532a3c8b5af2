// libcurl's trace on stderr, for debugging the library. Only in builds with BILLCORE_TRACE (the preset dev has it).
#pragma once

#include <curl/curl.h>

namespace billcore::detail {

/// Turns the trace of this handle on if the environment variable BILLCORE_TRACE is set. It shows headers but neither the API key
/// nor bodies; a proxy's password may be in it.
void trace_if_asked(CURL* easy);

}  // namespace billcore::detail
