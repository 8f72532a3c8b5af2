// Validates and completes a client's options. Internal.
#pragma once

#include <functional>
#include <string>

#include "billcore/options.hpp"
#include "http/engine.hpp"

namespace billcore::detail {

/// Fills in defaults from the environment. Throws Error(config) if an option is invalid.
[[nodiscard]] ClientOptions checked_options(ClientOptions options);
[[nodiscard]] ClientOptions changed_options(ClientOptions options, const ClientChanges& changes);
/// Whether a file or folder exists at this path.
[[nodiscard]] bool is_there(const std::string& path);
/// Returns the options for the transport. `exists` says whether a candidate location of certificates exists. Throws
/// Error(config) if certificates are needed and none are found, or if the environment's proxy is not valid.
[[nodiscard]] TransportOptions transport_options(const ClientOptions& options,
                                                 const std::function<bool(const std::string&)>& exists = is_there);

}  // namespace billcore::detail
