// Webhook signatures: verify the raw bytes first, then parse.
//
// Verifier keeps its keys prepared; make one per endpoint and share it. Threads: a Verifier may be used from any number
// of threads, without a lock. Secrets are 32 bytes, appear in no error or text, and are overwritten when the last copy
// of a Verifier goes. Service interface: Authentication; Events, Request headers.
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

/// Bodies over this many bytes are refused before they are hashed, unless told otherwise.
inline constexpr std::size_t default_max_body = std::size_t{1} << 20U;
inline constexpr std::string_view default_signature_header = "Service-Signature";

/// Tells the time; called from the thread that verifies.
using Clock = std::function<std::chrono::sys_time<std::chrono::microseconds>()>;

struct VerifierOptions {
  std::string header = std::string(default_signature_header);  // looked up without regard to case
  std::size_t max_body = default_max_body;                     // bytes
  /// Refuse an event whose signed created_at is further than this from now, before or after, or cannot be read: reason
  /// `stale`. Off unless set, because old events are legitimate: failed deliveries are retried, invoices are paid weeks
  /// later. It is no protection against replays: drop events by (account, id) for that. test.hook is never stale, since
  /// only its name is reliable.
  std::optional<std::chrono::microseconds> freshness = std::nullopt;
  Clock clock = nullptr;  // for freshness; the system's unless set
};

/// Header fields of a request, names in any case; a name may come several times.
using HeaderFields = std::span<const std::pair<std::string_view, std::string_view>>;

/// Verifies a body that comes in pieces and is too large to hold. Made by Verifier::stream(). Holds no piece.
/// Threads: one thread at a time.
class VerifyStream {
 public:
  VerifyStream(VerifyStream&&) noexcept;
  VerifyStream& operator=(VerifyStream&&) noexcept;
  ~VerifyStream();

  /// The next piece. Throws Error(signature), reason body_too_large, when all of them are over max_body.
  void update(std::string_view piece);
  /// The end of the body: the index of the secret that matches, or Error(signature). Use nothing of the pieces before.
  /// Ends the stream: a second call, or update(), is Error(invalid_argument).
  [[nodiscard]] std::size_t finish(std::optional<std::string_view> signature);

 private:
  friend class Verifier;
  struct Impl;
  explicit VerifyStream(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

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
  /// All secrets are compared, in constant time, also after a match. When memory runs out it is a mismatch; when the
  /// clock throws, stale.
  [[nodiscard]] SignatureReason check(std::string_view body, std::optional<std::string_view> signature,
                                      std::size_t* secret_index = nullptr) const noexcept;
  /// Throws Error(signature) with the reason and the suggested HTTP status, std::bad_alloc when memory does not suffice for
  /// the check. The result borrows `body`.
  [[nodiscard]] Verified verify(std::string_view body, std::optional<std::string_view> signature) const;
  /// Verifies, then parses a copy of the body. Throws Error(signature) or Error(decode).
  [[nodiscard]] Event unwrap(std::string_view body, std::optional<std::string_view> signature) const;
  /// The same without the copy: the event holds `body.keep`.
  [[nodiscard]] Event unwrap_shared(SharedText body, std::optional<std::string_view> signature) const;
  /// Finds the signature header in `headers`. Equal values, repeated or joined by commas, are one; different ones are
  /// malformed. verify() and unwrap() take the value exactly as it is.
  [[nodiscard]] Event unwrap_request(std::string_view body, HeaderFields headers) const;
  /// The value unwrap_request would use: nothing when missing; different values come joined, which no signature is.
  [[nodiscard]] std::optional<std::string> find_signature(HeaderFields headers) const;

  /// A check of a body in pieces. Error(config) with freshness, which needs the whole body.
  [[nodiscard]] VerifyStream stream() const;

  /// How often each secret was the one that matched, in the order they were given: one that stays at 0 can be retired.
  /// Counts for all copies of this Verifier.
  [[nodiscard]] std::vector<std::uint64_t> matches() const;
  [[nodiscard]] const VerifierOptions& options() const noexcept;
  [[nodiscard]] std::size_t secret_count() const noexcept;

 private:
  friend class VerifyStream;
  struct Keys;
  explicit Verifier(std::shared_ptr<const Keys> keys);
  [[nodiscard]] Verified verify_signature(std::string_view body, std::optional<std::string_view> signature) const;
  [[nodiscard]] Event require_fresh(Event event) const;
  std::shared_ptr<const Keys> keys_;
};

namespace webhooks {

/// One-shot forms of Verifier; a handler that runs often keeps a Verifier.
[[nodiscard]] Verified verify(std::string_view body, std::optional<std::string_view> signature, std::string_view secret,
                              std::size_t max_body = default_max_body);
[[nodiscard]] Event unwrap(std::string_view body, std::optional<std::string_view> signature, std::string_view secret,
                           std::size_t max_body = default_max_body);
/// An event from bytes that were verified before and stored since, such as those of a job queue: Event::raw() of the
/// receiver. It checks no signature and no age. Right only where nobody but the receiver can write; whatever came over
/// the network goes through unwrap(). Copies the bytes. Throws Error(decode) when they are no event.
[[nodiscard]] Event parse_unverified(std::string_view raw);
/// The same without the copy: the event holds `raw.keep`.
[[nodiscard]] Event parse_unverified_shared(SharedText raw);
/// Why is this refused? Tries offline what goes wrong in practice (the body re-serialised, still in base64, with another
/// line end; the signature in upper case or with a prefix; the secret with white space, in another encoding, another of
/// the list) and names what would have matched. A few lines of text for a person. It never accepts: the text is all it
/// gives. It shows neither a secret nor the right signature. Slow: does not belong in a request path.
[[nodiscard]] std::string explain(std::string_view body, std::optional<std::string_view> signature,
                                  std::span<const std::string_view> secrets);
[[nodiscard]] std::string explain(std::string_view body, std::optional<std::string_view> signature,
                                  std::string_view secret);
/// The signature the service would send: 64 lowercase hex digits. For tests of your own receiver.
[[nodiscard]] std::string sign(std::string_view body, std::string_view secret);

}  // namespace webhooks
}  // namespace billcore
