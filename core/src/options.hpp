// Checking and completing a client's options. Internal.
#pragma once

#include <memory>

#include "billcore/options.hpp"
#include "transport.hpp"

namespace billcore::detail {

/// Fills in what the environment holds and refuses what cannot work. Error(config).
[[nodiscard]] ClientOptions checked_options(ClientOptions options);
[[nodiscard]] ClientOptions changed_options(ClientOptions options, const ClientChanges& changes);
[[nodiscard]] TransportOptions transport_options(const ClientOptions& options);
[[nodiscard]] std::shared_ptr<const RequestHeaders> request_headers(const ClientOptions& options);

}  // namespace billcore::detail
