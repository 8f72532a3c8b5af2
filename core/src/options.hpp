// Checking and completing a client's options. Internal.
#pragma once

#include "billcore/options.hpp"
#include "transport.hpp"

namespace billcore::detail {

/// Fills in what the environment holds and refuses what cannot work. Error(config).
[[nodiscard]] ClientOptions checked_options(ClientOptions options);
[[nodiscard]] TransportOptions transport_options(const ClientOptions& options);

}  // namespace billcore::detail
