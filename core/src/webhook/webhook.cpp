#include "billcore/webhook.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>

#include "base/text.hpp"
#include "billcore/detail/document.hpp"
#include "json/allocator.hpp"
#include "json/json_scan.hpp"
#include "webhook/accounts.hpp"
#include "webhook/hmac.hpp"

namespace billcore {
namespace {

void require_not_empty(std::string_view secret) {
  if (!secret.empty()) return;
  throw Error(ErrorCode::config, "the signing secret is empty: anybody could sign; use the 32 bytes from the admin UI");
}

void require_secret_size(std::string_view secret) {
  require_not_empty(secret);
  if (secret.size() == detail::secret_size) return;
  throw Error(ErrorCode::config, "the signing secret has " + std::to_string(secret.size()) +
                                     " bytes, not 32: copy it from the admin UI without spaces or line ends");
}

void require_valid(const VerifierOptions& options) {
  if (!detail::is_token(options.header)) {
    throw Error(ErrorCode::config, "the name of the signature header is empty or contains invalid characters");
  }
  if (options.freshness && *options.freshness <= std::chrono::microseconds::zero()) {
    throw Error(ErrorCode::config, "freshness must be more than 0 seconds; leave it out to accept events of any age");
  }
}

bool same_name(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return detail::lower(x) == detail::lower(y); });
}

// Adds a header's value to the values found before. Servers may join the values of a repeated header with commas, so
// the value is split at its commas. Equal values count as one value. Different values are joined to one text, which is
// never a valid signature.
void add_value(std::optional<std::string>& found, std::string_view value) {
  constexpr std::string_view blanks = " \t";
  const bool joined = value.find(',') != std::string_view::npos;
  for (bool more = true; more;) {
    const auto comma = value.find(',');
    more = comma != std::string_view::npos;
    auto part = value.substr(0, comma);
    value.remove_prefix(more ? comma + 1 : value.size());
    if (joined) {
      part.remove_prefix(std::min(part.find_first_not_of(blanks), part.size()));
      part = part.substr(0, part.find_last_not_of(blanks) + 1);
    }
    if (!found) {
      found.emplace(part);
    } else if (*found != part) {
      found->append(", ").append(part);
    }
  }
}

[[noreturn]] void throw_signature_error(SignatureReason reason, const std::string& text) {
  ErrorDetail detail;
  detail.reason = reason;
  detail.http_status = suggested_http_status(reason);
  throw Error(ErrorCode::signature, std::string(to_string(reason)) + ": " + text, std::move(detail));
}

std::string of_unknown_age(const Error& error) { return error.message() + ", so the age of the event is unknown"; }

std::string in_seconds(std::uint64_t micros) { return std::to_string(micros / 1'000'000U) + " s"; }

// Throws the error for any reason except `stale`, whose text depends on the event.
[[noreturn]] void throw_signature_error(SignatureReason reason, std::size_t size, const VerifierOptions& options) {
  switch (reason) {
    case SignatureReason::body_too_large:
      throw_signature_error(reason, "the body has " + std::to_string(size) + " bytes, over max_body (" +
                                        std::to_string(options.max_body) + ")");
    case SignatureReason::missing:
      throw_signature_error(reason, "the request has no " + options.header + " header");
    case SignatureReason::malformed:
      throw_signature_error(reason, "the signature is not exactly 64 lowercase hex digits");
    default:
      throw_signature_error(SignatureReason::mismatch,
                            "no secret gives this signature for this body (" + std::to_string(size) +
                                " bytes); check the secret, and that the raw bytes are passed as received");
  }
}

}  // namespace

struct Verifier::Keys {
  Keys(std::span<const std::string_view> secrets, VerifierOptions given, detail::Accounts owners = {})
      : keys(secrets), matches(secrets.size()), options(std::move(given)), accounts(std::move(owners)) {}

  void count(std::size_t index) const noexcept { matches[index].fetch_add(1, std::memory_order_relaxed); }

  // Checks everything except the account and freshness. The function `match` returns the index of the key that gives
  // the claimed digest.
  template <typename Match>
  SignatureReason check(std::size_t size, std::optional<std::string_view> signature, std::size_t& index,
                        Match&& match) const noexcept {
    if (size > options.max_body) return SignatureReason::body_too_large;
    if (!signature) return SignatureReason::missing;
    detail::Digest claimed;
    if (!detail::decode_hex(*signature, claimed)) return SignatureReason::malformed;
    index = match(claimed);
    if (index >= keys.size()) return SignatureReason::mismatch;
    if (accounts.empty()) count(index);  // for accounts, require_account() counts
    return SignatureReason::none;
  }
  SignatureReason check(std::string_view body, std::optional<std::string_view> signature,
                        std::size_t& index) const noexcept {
    return check(body.size(), signature, index,
                 [&](const detail::Digest& claimed) { return keys.match(body, claimed); });
  }

  // Refuses a signed event unless the account that it names has the secret that gives the signature, and counts the
  // secret. `index`: any account's secret that gives the signature.
  void require_account(const Event& event, std::size_t index) const;
  // For functions that do not parse the body, and so do not see its account.
  void require_no_accounts() const {
    if (accounts.empty()) return;
    throw Error(ErrorCode::config,
                "a verifier for accounts reads the account in the body, which verify and stream do not parse: call "
                "unwrap");
  }

  // The reason why a signed event, parsed or not, is stale; nullopt if the event is fresh. Requires the option
  // `freshness`. Does not catch exceptions of the clock.
  [[nodiscard]] std::optional<std::string> why_stale(const Event& event) const;
  [[nodiscard]] std::optional<std::string> why_stale(const Verified& body) const;
  template <typename Signed>
  void require_fresh(const Signed& event) const {
    if (!options.freshness) return;
    if (const auto problem = why_stale(event)) throw_signature_error(SignatureReason::stale, *problem);
  }

  detail::HmacKeys keys;
  mutable std::vector<std::atomic<std::uint64_t>> matches;
  VerifierOptions options;
  detail::Accounts accounts;
  std::shared_ptr<detail::DocumentPool> documents = std::make_shared<detail::DocumentPool>();
};

void Verifier::Keys::require_account(const Event& event, std::size_t index) const {
  if (event.type() != EventType::test_hook) {
    const auto account = detail::account_of(event);
    if (account.empty()) {
      throw_signature_error(SignatureReason::mismatch,
                            "the body names no account, and the verifier accepts only events of its accounts");
    }
    const auto own = accounts.own_secret(account, index);
    if (!own) {
      throw_signature_error(SignatureReason::mismatch,
                            "no secret of the account that the body names gives this signature; check for which "
                            "account the verifier has each secret");
    }
    index = *own;
  }
  count(index);
}

std::optional<std::string> Verifier::Keys::why_stale(const Event& event) const {
  using std::chrono::microseconds;
  if (event.type() == EventType::test_hook) return std::nullopt;
  std::int64_t created = 0;
  try {
    created = event.created_at().at.time_since_epoch().count();
  } catch (const Error& error) {
    return of_unknown_age(error);
  }
  const auto instant =
      options.clock ? options.clock() : std::chrono::floor<microseconds>(std::chrono::system_clock::now());
  const std::int64_t now = instant.time_since_epoch().count();
  // Unsigned numbers, because the difference of the two times may not fit into a signed 64-bit number.
  const auto distance = now > created ? static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(created)
                                      : static_cast<std::uint64_t>(created) - static_cast<std::uint64_t>(now);
  const auto limit = static_cast<std::uint64_t>(options.freshness->count());
  if (distance <= limit) return std::nullopt;
  return "created_at is " + in_seconds(distance) + (now > created ? " before" : " after") + " now, over freshness (" +
         in_seconds(limit) + ")";
}

std::optional<std::string> Verifier::Keys::why_stale(const Verified& body) const {
  try {
    return why_stale(Event::parse(body, nullptr, documents));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::decode) throw;
    return of_unknown_age(error);
  }
}

Verifier::Verifier(std::shared_ptr<const Keys> keys) : keys_(std::move(keys)) {}
Verifier::Verifier(const Verifier&) noexcept = default;
Verifier& Verifier::operator=(const Verifier&) noexcept = default;
Verifier::~Verifier() = default;

Verifier::Verifier(std::span<const std::string_view> secrets, VerifierOptions options)
    : Verifier([&] {
        std::for_each(secrets.begin(), secrets.end(), require_secret_size);
        return allowing_any_key_length(secrets, std::move(options));
      }()) {}

Verifier Verifier::allowing_any_key_length(std::span<const std::string_view> secrets, VerifierOptions options) {
  if (secrets.empty()) throw Error(ErrorCode::config, "no signing secret was given: pass at least one");
  require_valid(options);
  std::for_each(secrets.begin(), secrets.end(), require_not_empty);
  return Verifier(std::make_shared<Keys>(secrets, std::move(options)));
}

Verifier Verifier::for_accounts(std::span<const AccountSecrets> accounts, VerifierOptions options) {
  detail::Accounts owners(accounts);
  const auto secrets = detail::all_secrets(accounts);
  std::for_each(secrets.begin(), secrets.end(), require_secret_size);
  require_valid(options);
  return Verifier(std::make_shared<Keys>(secrets, std::move(options), std::move(owners)));
}

SignatureReason Verifier::check(std::string_view body, std::optional<std::string_view> signature,
                                std::size_t* secret_index) const noexcept {
  std::size_t index = 0;
  auto reason = keys_->check(body, signature, index);
  if (reason == SignatureReason::none && !keys_->accounts.empty()) reason = SignatureReason::mismatch;
  if (reason == SignatureReason::none && keys_->options.freshness) {
    try {
      if (keys_->why_stale(Verified(body, index))) reason = SignatureReason::stale;
    } catch (...) {
      reason = SignatureReason::stale;
    }
  }
  if (reason == SignatureReason::none && secret_index != nullptr) *secret_index = index;
  return reason;
}

// Checks the signature only, not the account and the age.
Verified Verifier::verify_signature(std::string_view body, std::optional<std::string_view> signature) const {
  std::size_t index = 0;
  const auto reason = keys_->check(body, signature, index);
  if (index == detail::HmacKeys::no_memory) throw std::bad_alloc();
  if (reason != SignatureReason::none) throw_signature_error(reason, body.size(), keys_->options);
  return {body, index};
}

Event Verifier::accept(Event event, std::size_t secret_index) const {
  if (!keys_->accounts.empty()) keys_->require_account(event, secret_index);
  keys_->require_fresh(event);
  return event;
}

Verified Verifier::verify(std::string_view body, std::optional<std::string_view> signature) const {
  keys_->require_no_accounts();
  const auto verified = verify_signature(body, signature);
  keys_->require_fresh(verified);
  return verified;
}

Event Verifier::unwrap(std::string_view body, std::optional<std::string_view> signature) const {
  const auto verified = verify_signature(body, signature);
  return accept(Event::parse(verified, keys_->documents), verified.secret_index());
}

Event Verifier::unwrap_shared(SharedText body, std::optional<std::string_view> signature) const {
  const auto verified = verify_signature(body.text, signature);
  return accept(Event::parse(verified, std::move(body.keep), keys_->documents), verified.secret_index());
}

Event Verifier::unwrap_request(std::string_view body, HeaderFields headers) const {
  const auto signature = find_signature(headers);
  return unwrap(body, signature ? std::optional<std::string_view>(*signature) : std::nullopt);
}

std::optional<std::string> Verifier::find_signature(HeaderFields headers) const {
  std::optional<std::string> found;
  for (const auto& [name, value] : headers) {
    if (same_name(name, keys_->options.header)) add_value(found, value);
  }
  return found;
}

std::vector<std::uint64_t> Verifier::matches() const { return {keys_->matches.begin(), keys_->matches.end()}; }

const VerifierOptions& Verifier::options() const noexcept { return keys_->options; }
std::size_t Verifier::secret_count() const noexcept { return keys_->keys.size(); }

// ---- Bodies in pieces -------------------------------------------------------------------------------------------------

struct VerifyStream::Impl {
  explicit Impl(std::shared_ptr<const Verifier::Keys> of) : keys(std::move(of)), hash(keys->keys) {}

  [[noreturn]] static void throw_ended() {
    throw Error(ErrorCode::invalid_argument, "the stream has ended: finish() was called; make a new one for each body");
  }

  std::shared_ptr<const Verifier::Keys> keys;
  detail::HmacStream hash;
  std::size_t size = 0;
  bool ended = false;
};

VerifyStream::VerifyStream(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
VerifyStream::VerifyStream(VerifyStream&&) noexcept = default;
VerifyStream& VerifyStream::operator=(VerifyStream&&) noexcept = default;
VerifyStream::~VerifyStream() = default;

VerifyStream Verifier::stream() const {
  keys_->require_no_accounts();
  if (keys_->options.freshness) {
    throw Error(ErrorCode::config,
                "a stream cannot check freshness, which needs the whole body: use a Verifier without freshness");
  }
  return VerifyStream(std::make_unique<VerifyStream::Impl>(keys_));
}

void VerifyStream::update(std::string_view piece) {
  auto& stream = *impl_;
  if (stream.ended) Impl::throw_ended();
  stream.size = piece.size() > SIZE_MAX - stream.size ? SIZE_MAX : stream.size + piece.size();
  const auto& options = stream.keys->options;
  if (stream.size > options.max_body) throw_signature_error(SignatureReason::body_too_large, stream.size, options);
  stream.hash.update(piece);
}

std::size_t VerifyStream::finish(std::optional<std::string_view> signature) {
  auto& stream = *impl_;
  if (stream.ended) Impl::throw_ended();
  stream.ended = true;
  std::size_t index = 0;
  const auto reason = stream.keys->check(stream.size, signature, index,
                                         [&](const detail::Digest& claimed) { return stream.hash.match(claimed); });
  if (index == detail::HmacKeys::no_memory) throw std::bad_alloc();
  if (reason != SignatureReason::none) throw_signature_error(reason, stream.size, stream.keys->options);
  return index;
}

namespace webhooks {

Verified verify(std::string_view body, std::optional<std::string_view> signature, std::string_view secret,
                std::size_t max_body) {
  VerifierOptions options;
  options.max_body = max_body;
  return Verifier(secret, std::move(options)).verify(body, signature);
}

Event unwrap(std::string_view body, std::optional<std::string_view> signature, std::string_view secret,
             std::size_t max_body) {
  VerifierOptions options;
  options.max_body = max_body;
  return Verifier(secret, std::move(options)).unwrap(body, signature);
}

Event parse_unverified(std::string_view raw) { return parse_unverified_shared(SharedText::own(std::string(raw))); }

Event parse_unverified_shared(SharedText raw) {
  if (const auto problem = detail::problem_of_extent(raw.text); !problem.empty()) {
    throw Error(ErrorCode::decode, problem);
  }
  return Event::of(detail::Document::parse(std::move(raw)));
}

std::string sign(std::string_view body, std::string_view secret) {
  require_secret_size(secret);
  detail::Digest digest;
  if (!detail::HmacKeys({&secret, 1}).digest(0, body, digest)) throw std::bad_alloc();
  return detail::encode_hex(digest);
}

}  // namespace webhooks
}  // namespace billcore
