// Webhook signatures: verify the raw bytes first, then parse.
//
// A Verifier precomputes its keys; make one per endpoint and share it. If several accounts deliver to one endpoint,
// make it with Verifier::for_accounts. Threads: any number of threads may use a Verifier without a lock. Secrets have
// 32 bytes, never appear in errors or texts, and are overwritten when the last copy of the Verifier is destroyed.
// Service interface: Authentication; Events, Request headers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
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

/// Default body limit in bytes. A body over the limit is refused before it is hashed.
inline constexpr std::size_t default_max_body = std::size_t{1} << 20U;
inline constexpr std::string_view default_signature_header = "Service-Signature";

/// Returns the current time; called on the verifying thread.
using Clock = std::function<std::chrono::sys_time<std::chrono::microseconds>()>;

struct VerifierOptions {
  std::string header = std::string(default_signature_header);  // case-insensitive
  std::size_t max_body = default_max_body;                     // bytes
  /// Refuses an event (reason `stale`) whose signed created_at is unreadable, or differs from the present time by more
  /// than this duration. Off by default, because old events are legitimate: failed deliveries are retried, and invoices
  /// are paid weeks later. The freshness check does not prevent replays; to prevent them, drop events whose account and
  /// id you have already seen. A test.hook event is never refused as stale, because only its name is reliable.
  std::optional<std::chrono::microseconds> freshness = std::nullopt;
  Clock clock = nullptr;  // clock for the freshness check; default: the system clock
};

/// The secrets of one account, for Verifier::for_accounts.
struct AccountSecrets {
  std::string_view account;  // the account's integer id, as events have it (Event::account), written as text
  std::vector<std::string_view> secrets;
};

/// Header fields of a request. Names are case-insensitive and may repeat.
using HeaderFields = std::span<const std::pair<std::string_view, std::string_view>>;

/// Verifies a body that is too large to hold in memory, chunk by chunk; keeps no chunk. Created by Verifier::stream().
/// Threads: one at a time.
class VerifyStream {
 public:
  VerifyStream(VerifyStream&&) noexcept;
  VerifyStream& operator=(VerifyStream&&) noexcept;
  ~VerifyStream();

  /// Adds the next chunk. Throws Error(signature), reason body_too_large, when the total exceeds max_body.
  void update(std::string_view piece);
  /// Marks the end of the body, and returns the index of the matching secret or throws Error(signature). Do not use
  /// the chunks before finish() returns. Ends the stream: later calls throw Error(invalid_argument).
  [[nodiscard]] std::size_t finish(std::optional<std::string_view> signature);

 private:
  friend class Verifier;
  struct Impl;
  explicit VerifyStream(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

class Verifier {
 public:
  /// `secrets` has one secret, or several during a rotation. Throws Error(config) unless each secret has 32 bytes.
  explicit Verifier(std::span<const std::string_view> secrets, VerifierOptions options = {});
  Verifier(std::initializer_list<std::string_view> secrets, VerifierOptions options = {})
      : Verifier(std::span<const std::string_view>(secrets.begin(), secrets.size()), std::move(options)) {}
  explicit Verifier(std::string_view secret, VerifierOptions options = {})
      : Verifier(std::span<const std::string_view>(&secret, 1), std::move(options)) {}
  /// Accepts secrets of any length except zero. Use this function only for test vectors and for other services' keys:
  /// the billing service's secrets have 32 bytes.
  [[nodiscard]] static Verifier allowing_any_key_length(std::span<const std::string_view> secrets,
                                                        VerifierOptions options = {});
  /// Makes a Verifier for an endpoint to which several accounts deliver, each with its own secrets, so that nobody can
  /// sign another account's events. unwrap() and unwrap_request() accept an event only if the matching secret belongs
  /// to the account that the signed body names; otherwise, or if the body names no account, the reason is `mismatch`.
  /// A test.hook event matches any secret, because only its name is reliable. verify() and stream(), which do not parse
  /// the body, throw Error(config). Two accounts may have the same secret. Secret indexes count through all accounts,
  /// in the order given. Throws Error(config) if `accounts` is empty, if an account is empty or has no secret, and
  /// unless each secret has 32 bytes.
  [[nodiscard]] static Verifier for_accounts(std::span<const AccountSecrets> accounts, VerifierOptions options = {});
  Verifier(const Verifier&) noexcept;
  Verifier& operator=(const Verifier&) noexcept;
  ~Verifier();

  /// Checks a signature without throwing. Returns `none` and sets *secret_index if the signature is valid, otherwise
  /// returns the reason. Copies nothing. Tries all secrets, even after one has matched, in constant time. Out of memory
  /// is reported as `mismatch`, an exception from the clock as `stale`. A Verifier for accounts returns `mismatch` for
  /// every valid signature: call unwrap().
  [[nodiscard]] SignatureReason check(std::string_view body, std::optional<std::string_view> signature,
                                      std::size_t* secret_index = nullptr) const noexcept;
  /// Checks a signature; the result borrows `body`. Throws Error(signature) with the reason and the suggested HTTP
  /// status, or std::bad_alloc if the check runs out of memory. A Verifier for accounts throws Error(config).
  [[nodiscard]] Verified verify(std::string_view body, std::optional<std::string_view> signature) const;
  /// Verifies, then parses a copy of the body. Throws Error(signature) or Error(decode).
  [[nodiscard]] Event unwrap(std::string_view body, std::optional<std::string_view> signature) const;
  /// As unwrap(), but without a copy of the body: the event keeps the body alive through `body.keep`.
  [[nodiscard]] Event unwrap_shared(SharedText body, std::optional<std::string_view> signature) const;
  /// As unwrap(), but looks up the signature header in `headers`. Equal values, in repeated headers or joined by
  /// commas, count as one value; different values give the reason `malformed`. (verify() and unwrap() do not split the
  /// signature at commas.)
  [[nodiscard]] Event unwrap_request(std::string_view body, HeaderFields headers) const;
  /// The signature that unwrap_request() uses; nullopt when missing. Different values are joined to one text, which is
  /// never a valid signature.
  [[nodiscard]] std::optional<std::string> find_signature(HeaderFields headers) const;

  /// Begins to verify a body in chunks. Throws Error(config) if the options have freshness, or if the Verifier is for
  /// accounts: both need the whole body.
  [[nodiscard]] VerifyStream stream() const;

  /// Number of signatures that matched each secret, in the order given: a secret whose number no longer grows can be
  /// retired. All copies of a Verifier share the counters.
  [[nodiscard]] std::vector<std::uint64_t> matches() const;
  [[nodiscard]] const VerifierOptions& options() const noexcept;
  [[nodiscard]] std::size_t secret_count() const noexcept;

 private:
  friend class VerifyStream;
  struct Keys;
  explicit Verifier(std::shared_ptr<const Keys> keys);
  [[nodiscard]] Verified verify_signature(std::string_view body, std::optional<std::string_view> signature) const;
  [[nodiscard]] Event accept(Event event, std::size_t secret_index) const;
  std::shared_ptr<const Keys> keys_;
};

namespace webhooks {

/// Verify one body with one secret. To check many bodies, make one Verifier and keep it.
[[nodiscard]] Verified verify(std::string_view body, std::optional<std::string_view> signature, std::string_view secret,
                              std::size_t max_body = default_max_body);
[[nodiscard]] Event unwrap(std::string_view body, std::optional<std::string_view> signature, std::string_view secret,
                           std::size_t max_body = default_max_body);
/// Parses an event whose bytes the receiver verified and stored (Event::raw()), for example in a job queue. Checks
/// neither signature nor age. Use this function only for storage that the receiver alone can write to; pass bytes from
/// the network to unwrap(). Copies the bytes. Throws Error(decode) when the bytes are not an event.
[[nodiscard]] Event parse_unverified(std::string_view raw);
/// As parse_unverified(), but without a copy: the event keeps the bytes alive through `raw.keep`.
[[nodiscard]] Event parse_unverified_shared(SharedText raw);
/// Explains why a signature is refused. Tries common mistakes offline (the body re-serialised, still in base64 or with
/// other line ends; the signature in upper case or with a prefix; the secret with white space, in another encoding, or
/// confused with another secret of the list) and names the mistake that would produce this signature. Returns a few
/// lines of human-readable text. From the request's `headers`, if given, explain() also notices a body that a proxy has
/// unpacked (Content-Encoding). explain() never accepts a body, and the text reveals neither a secret nor the valid
/// signature. explain() is slow: do not call it for every request.
[[nodiscard]] std::string explain(std::string_view body, std::optional<std::string_view> signature,
                                  std::span<const std::string_view> secrets, HeaderFields headers = {});
[[nodiscard]] std::string explain(std::string_view body, std::optional<std::string_view> signature,
                                  std::string_view secret, HeaderFields headers = {});
/// The signature that the service would send: 64 lowercase hex digits. For tests of your own receiver.
[[nodiscard]] std::string sign(std::string_view body, std::string_view secret);

}  // namespace webhooks
}  // namespace billcore
