// Selects the certificates to trust. Internal.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace billcore::detail {

/// The certificates to trust: the given file, else $SSL_CERT_FILE or $SSL_CERT_DIR, else the first existing file among
/// libcurl's default and the usual paths. find_trust() throws Error(config) with the tried paths if none of them
/// exists. `exists` says whether a file or folder exists.
struct Trust {
  std::optional<std::string> file;
  std::optional<std::string> folder;
};
[[nodiscard]] Trust find_trust(const std::optional<std::string>& given, const char* cert_file, const char* cert_dir,
                               const std::vector<std::string>& own,
                               const std::function<bool(const std::string&)>& exists);

}  // namespace billcore::detail
