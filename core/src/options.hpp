// Checking and completing a client's options. Internal.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "billcore/options.hpp"
#include "transport.hpp"

namespace billcore::detail {

/// Fills in what the environment holds and refuses what cannot work. Error(config).
[[nodiscard]] ClientOptions checked_options(ClientOptions options);
[[nodiscard]] ClientOptions changed_options(ClientOptions options, const ClientChanges& changes);
[[nodiscard]] TransportOptions transport_options(const ClientOptions& options);

/// Which certificates to trust: those given, else $SSL_CERT_FILE or $SSL_CERT_DIR, else the first that is there of
/// libcurl's own and the usual places. Error(config) that lists what was tried. `exists` is asked for files and folders.
struct Trust {
  std::optional<std::string> file;
  std::optional<std::string> folder;
};
[[nodiscard]] Trust find_trust(const std::optional<std::string>& given, const char* cert_file, const char* cert_dir,
                               const std::vector<std::string>& own,
                               const std::function<bool(const std::string&)>& exists);
[[nodiscard]] std::shared_ptr<const RequestHeaders> request_headers(const ClientOptions& options);

}  // namespace billcore::detail
