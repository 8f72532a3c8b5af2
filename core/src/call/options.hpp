// Checking and completing a client's options. Internal.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "billcore/options.hpp"
#include "http/engine.hpp"

namespace billcore::detail {

/// Fills in what the environment holds and refuses what cannot work. Error(config).
[[nodiscard]] ClientOptions checked_options(ClientOptions options);
[[nodiscard]] ClientOptions changed_options(ClientOptions options, const ClientChanges& changes);
/// A file or a folder?
[[nodiscard]] bool is_there(const std::string& path);
/// `exists` is asked where certificates are looked for. Error(config) when there are none, and they are needed.
[[nodiscard]] TransportOptions transport_options(const ClientOptions& options,
                                                 const std::function<bool(const std::string&)>& exists = is_there);
[[nodiscard]] std::shared_ptr<const RequestHeaders> request_headers(const ClientOptions& options);

}  // namespace billcore::detail
