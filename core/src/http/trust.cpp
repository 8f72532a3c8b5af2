#include "http/trust.hpp"

#include <array>
#include <string_view>

#include "billcore/error.hpp"

namespace billcore::detail {

Trust find_trust(const std::optional<std::string>& given, const char* cert_file, const char* cert_dir,
                 const std::vector<std::string>& own, const std::function<bool(const std::string&)>& exists) {
  static constexpr std::array<const char*, 6> places{
      "/etc/ssl/certs/ca-certificates.crt",                 // path on Debian, Ubuntu, Alpine, Arch
      "/etc/pki/tls/certs/ca-bundle.crt",                   // path on Fedora, Amazon Linux
      "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // path on RHEL
      "/etc/ssl/ca-bundle.pem",                             // path on SUSE
      "/etc/ssl/cert.pem",                                  // path on BSD, macOS, Alpine
      "/usr/local/share/certs/ca-root-nss.crt"};            // path on FreeBSD
  if (given) return {given, std::nullopt};
  const auto named = [&exists](const char* variable, const char* value) {
    if (exists(value)) return;
    throw Error(ErrorCode::config,
                std::string(variable) + " names " + value + ", which does not exist: correct or unset it");
  };
  Trust trust;
  if (cert_file != nullptr && *cert_file != '\0') {
    named("SSL_CERT_FILE", cert_file);
    trust.file = cert_file;
  }
  if (cert_dir != nullptr && *cert_dir != '\0') {
    // SSL_CERT_DIR is a list of folders, as in OpenSSL. A missing folder is an error only if it is the only entry of
    // the list and SSL_CERT_FILE is not set.
    if (!trust.file && std::string_view(cert_dir).find(':') == std::string_view::npos) named("SSL_CERT_DIR", cert_dir);
    trust.folder = cert_dir;
  }
  if (trust.file || trust.folder) return trust;

  std::vector<std::string> tried = own;
  tried.insert(tried.end(), places.begin(), places.end());
  std::string list;
  for (const auto& place : tried) {
    if (place.empty()) continue;
    if (exists(place)) return {place, std::nullopt};
    list += (list.empty() ? "" : ", ") + place;
  }
  throw Error(ErrorCode::config,
              "no certificates to trust were found: install ca-certificates, or pass ca_bundle or set "
              "SSL_CERT_FILE (tried " +
                  list + ")");
}

}  // namespace billcore::detail
