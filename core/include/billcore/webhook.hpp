// Webhook signatures: verify the raw bytes first, then parse.
//
// Verifier keeps its keys prepared; make one per endpoint and share it. Threads: a Verifier is immutable and may be
// used from any number of threads. Secrets are 32 bytes and appear in no error or text. Service interface:
// Authentication; Events, Request headers.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "billcore/error.hpp"
#include "billcore/event.hpp"
#include "billcore/json.hpp"

namespace billcore {

/// Bodies over this many bytes are refused before they are hashed, unless told otherwise.
inline constexpr std::size_t default_max_body = std::size_t{1} << 20U;
inline constexpr std::string_view default_signature_header = "Service-Signature";

struct VerifierOptions {
  std::string header = std::string(default_signature_header);  // looked up without regard to case
  std::size_t max_body = default_max_body;                     // bytes
};

/// Header fields of a request, names in any case; a name may come several times.
using HeaderFields = std::span<const std::pair<std::string_view, std::string_view>>;

class Verifier {
 public:
  /// secrets: one, or several while one is being replaced; 32 bytes each, else Error(config).
  explicit Verifier(std::span<const std::string_view> secrets, VerifierOptions options = {});
  Verifier(std::initializer_list<std::string_view> secrets, VerifierOptions options = {})
      : Verifier(std::span<const std::string_view>(secrets.begin(), secrets.size()), std::move(options)) {}
  explicit Verifier(std::string_view secret, VerifierOptions options = {})
      : Verifier(std::span<const std::string_view>(&secret, 1), std::move(options)) {}
  /// For test vectors and foreign keys: secrets of any length but zero. The service's own secrets have 32 bytes.
  [[nodiscard]] static Verifier allowing_any_key_length(std::span<const std::string_view> secrets,
                                                        VerifierOptions options = {});
  Verifier(const Verifier&) noexcept;
  Verifier& operator=(const Verifier&) noexcept;
  ~Verifier();

  /// The check itself: none when the signature is right (then secret_index is set), else the reason. Copies nothing.
  /// All secrets are compared, in constant time, also after a match. May only fail otherwise when memory runs out,
  /// which counts as mismatch.
  [[nodiscard]] SignatureReason check(std::string_view body, std::optional<std::string_view> signature,
                                      std::size_t* secret_index = nullptr) const noexcept;
  /// Throws Error(signature) with the reason and the suggested HTTP status. The result borrows `body`.
  [[nodiscard]] Verified verify(std::string_view body, std::optional<std::string_view> signature) const;
  /// Verifies, then parses a copy of the body. Throws Error(signature) or Error(decode).
  [[nodiscard]] Event unwrap(std::string_view body, std::optional<std::string_view> signature) const;
  /// The same without the copy: the event holds `body.keep`.
  [[nodiscard]] Event unwrap_shared(SharedText body, std::optional<std::string_view> signature) const;
  /// Finds the signature header in `headers`. Several different values are malformed.
  [[nodiscard]] Event unwrap_request(std::string_view body, HeaderFields headers) const;
  /// The value unwrap_request would use: nothing when missing; different values come joined, which no signature is.
  [[nodiscard]] std::optional<std::string> find_signature(HeaderFields headers) const;

  [[nodiscard]] const VerifierOptions& options() const noexcept;
  [[nodiscard]] std::size_t secret_count() const noexcept;

 private:
  struct Keys;
  explicit Verifier(std::shared_ptr<const Keys> keys);
  std::shared_ptr<const Keys> keys_;
};

namespace webhooks {

/// One-shot forms of Verifier; a handler that runs often keeps a Verifier.
[[nodiscard]] Verified verify(std::string_view body, std::optional<std::string_view> signature, std::string_view secret,
                              std::size_t max_body = default_max_body);
[[nodiscard]] Event unwrap(std::string_view body, std::optional<std::string_view> signature, std::string_view secret,
                           std::size_t max_body = default_max_body);
/// The signature the service would send: 64 lowercase hex digits. For tests of your own receiver.
[[nodiscard]] std::string sign(std::string_view body, std::string_view secret);

}  // namespace webhooks
}  // namespace billcore
