// Which certificates to trust. Internal.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace billcore::detail {

/// Which certificates to trust: those given, else $SSL_CERT_FILE or $SSL_CERT_DIR, else the first that is there of
/// libcurl's own and the usual places. Error(config) that lists what was tried. `exists` is asked for files and folders.
struct Trust {
  std::optional<std::string> file;
  std::optional<std::string> folder;
};
[[nodiscard]] Trust find_trust(const std::optional<std::string>& given, const char* cert_file, const char* cert_dir,
                               const std::vector<std::string>& own,
                               const std::function<bool(const std::string&)>& exists);

}  // namespace billcore::detail
