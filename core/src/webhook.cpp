#include "billcore/webhook.hpp"

#include <algorithm>

#include "hmac.hpp"

namespace billcore {
namespace {

constexpr std::size_t secret_size = 32;

// Strictly 64 lowercase hex digits: what the service sends. Anything looser would accept what it never sends.
bool decode_signature(std::string_view hex, detail::Digest& out) noexcept {
  if (hex.size() != 2 * out.size()) return false;
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  };
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = digit(hex[2 * i]);
    const int low = digit(hex[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    out[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return true;
}

std::string encode_hex(const detail::Digest& digest) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * digest.size());
  for (const auto byte : digest) {
    out += digits[byte >> 4U];
    out += digits[byte & 15U];
  }
  return out;
}

void require_secret_size(std::string_view secret) {
  if (secret.size() == secret_size) return;
  if (secret.empty()) {
    throw Error(ErrorCode::config,
                "the signing secret is empty: anybody could sign; use the 32 bytes from the admin UI");
  }
  throw Error(ErrorCode::config, "the signing secret has " + std::to_string(secret.size()) +
                                     " bytes, not 32: copy it from the admin UI without spaces or line ends");
}

bool same_name(std::string_view a, std::string_view b) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) { return lower(x) == lower(y); });
}

bool is_header_name(std::string_view name) noexcept {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [others](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           others.find(c) != std::string_view::npos;
  });
}

[[noreturn]] void throw_signature_error(SignatureReason reason, std::size_t size, const VerifierOptions& options) {
  std::string message;
  switch (reason) {
    case SignatureReason::body_too_large:
      message = "body_too_large: the body has " + std::to_string(size) + " bytes, over max_body (" +
                std::to_string(options.max_body) + ")";
      break;
    case SignatureReason::missing:
      message = "missing: the request has no " + options.header + " header";
      break;
    case SignatureReason::malformed:
      message = "malformed: the signature is not exactly 64 lowercase hex digits";
      break;
    default:
      message = "mismatch: no secret gives this signature for this body (" + std::to_string(size) +
                " bytes); check the secret, and that the raw bytes are passed as received";
      break;
  }
  ErrorDetail detail;
  detail.reason = reason;
  detail.http_status = suggested_http_status(reason);
  throw Error(ErrorCode::signature, std::move(message), std::move(detail));
}

}  // namespace

struct Verifier::Keys {
  std::vector<detail::HmacKey> keys;
  VerifierOptions options;
};

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
  if (!is_header_name(options.header)) {
    throw Error(ErrorCode::config, "the name of the signature header is empty or has characters no name may have");
  }
  auto keys = std::make_shared<Keys>();
  keys->options = std::move(options);
  keys->keys.reserve(secrets.size());
  for (const auto secret : secrets) {
    if (secret.empty()) require_secret_size(secret);
    keys->keys.emplace_back(secret);
  }
  return Verifier(std::move(keys));
}

SignatureReason Verifier::check(std::string_view body, std::optional<std::string_view> signature,
                                std::size_t* secret_index) const noexcept {
  if (body.size() > keys_->options.max_body) return SignatureReason::body_too_large;
  if (!signature) return SignatureReason::missing;
  detail::Digest claimed;
  if (!decode_signature(*signature, claimed)) return SignatureReason::malformed;

  const std::size_t count = keys_->keys.size();
  std::size_t match = count;
  for (std::size_t i = count; i-- > 0;) {  // backwards, so that the first match is the one that stays
    detail::Digest computed;
    if (keys_->keys[i].digest(body, computed) && detail::equal_digests(computed, claimed)) match = i;
  }
  if (match == count) return SignatureReason::mismatch;
  if (secret_index != nullptr) *secret_index = match;
  return SignatureReason::none;
}

Verified Verifier::verify(std::string_view body, std::optional<std::string_view> signature) const {
  std::size_t index = 0;
  const auto reason = check(body, signature, &index);
  if (reason != SignatureReason::none) throw_signature_error(reason, body.size(), keys_->options);
  return {body, index};
}

Event Verifier::unwrap(std::string_view body, std::optional<std::string_view> signature) const {
  const auto verified = verify(body, signature);
  auto kept = SharedText::own(std::string(body));
  return Event::parse(Verified(kept.text, verified.secret_index()), std::move(kept.keep));
}

Event Verifier::unwrap_shared(SharedText body, std::optional<std::string_view> signature) const {
  return Event::parse(verify(body.text, signature), std::move(body.keep));
}

Event Verifier::unwrap_request(std::string_view body, HeaderFields headers) const {
  const auto signature = find_signature(headers);
  return unwrap(body, signature ? std::optional<std::string_view>(*signature) : std::nullopt);
}

std::optional<std::string> Verifier::find_signature(HeaderFields headers) const {
  std::optional<std::string> found;
  for (const auto& [name, value] : headers) {
    if (!same_name(name, keys_->options.header)) continue;
    if (!found) {
      found.emplace(value);
    } else if (*found != value) {
      found->append(", ").append(value);
    }
  }
  return found;
}

const VerifierOptions& Verifier::options() const noexcept { return keys_->options; }
std::size_t Verifier::secret_count() const noexcept { return keys_->keys.size(); }

namespace webhooks {

Verified verify(std::string_view body, std::optional<std::string_view> signature, std::string_view secret,
                std::size_t max_body) {
  return Verifier(secret, {std::string(default_signature_header), max_body}).verify(body, signature);
}

Event unwrap(std::string_view body, std::optional<std::string_view> signature, std::string_view secret,
             std::size_t max_body) {
  return Verifier(secret, {std::string(default_signature_header), max_body}).unwrap(body, signature);
}

std::string sign(std::string_view body, std::string_view secret) {
  require_secret_size(secret);
  detail::Digest digest;
  if (!detail::HmacKey(secret).digest(body, digest)) throw std::bad_alloc();
  return encode_hex(digest);
}

}  // namespace webhooks
}  // namespace billcore
