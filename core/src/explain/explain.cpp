// webhooks::explain: tries to undo common mistakes, and reports which mistakes explain the signature.
#include "explain/explain.hpp"

#include <new>
#include <optional>

#include "billcore/webhook.hpp"

namespace billcore {
namespace {

using detail::Faults;
using detail::HmacKeys;
using detail::secret_size;
using detail::SecretReading;
using detail::SignatureReading;

constexpr const char* closing =
    "This explains and accepts nothing: keep refusing what the verifier refuses. It is slow and does not belong in a "
    "request path.";

std::string lines(const std::string& head, const Faults& faults) {
  std::string out = head + '\n';
  for (const auto& fault : faults) out += "- " + fault + '\n';
  return out + closing;
}

std::string counted(std::size_t count, const char* noun) {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s");
}

std::string secret_of(std::size_t index, std::size_t count) {
  return "secret " + std::to_string(index + 1) + " of " + std::to_string(count);
}

std::vector<std::string_view> views(const std::vector<SecretReading>& readings) {
  std::vector<std::string_view> out;
  out.reserve(readings.size());
  for (const auto& reading : readings) out.push_back(detail::view(reading.key));
  return out;
}

class Search {
 public:
  Search(std::string_view body, std::span<const std::string_view> secrets, std::vector<SignatureReading> signatures)
      : body_(body),
        secrets_(secrets),
        signatures_(std::move(signatures)),
        given_(secrets),
        readings_(detail::read_secrets(secrets)),
        read_(views(readings_)) {}

  /// Returns the explanation if some interpretation of the inputs gives the signature, else nullopt. Changes the body or
  /// a secret, not both.
  std::optional<std::string> run() {
    const auto as_given = [this](std::string_view body, const Faults& faults) { return try_given(body, faults); };
    static_cast<void>(try_given(body_, {}) || detail::visit_bodies(body_, as_given) || try_read());
    return said_;
  }

  [[nodiscard]] std::size_t tries() const noexcept { return tries_; }

 private:
  bool try_given(std::string_view body, const Faults& faults) {
    for (std::size_t i = 0; i < given_.size(); ++i) {
      if (const auto* signature = match(given_, i, body)) {
        say(*signature, i, nullptr, secrets_[i].size(), faults);
        return true;
      }
    }
    return false;
  }

  bool try_read() {
    for (std::size_t i = 0; i < read_.size(); ++i) {
      if (const auto* signature = match(read_, i, body_)) {
        say(*signature, readings_[i].index, &readings_[i].faults, readings_[i].key.size(), {});
        return true;
      }
    }
    return false;
  }

  const SignatureReading* match(const HmacKeys& keys, std::size_t index, std::string_view body) {
    detail::Digest digest{};
    ++tries_;
    if (!keys.digest(index, body, digest)) throw std::bad_alloc();
    const SignatureReading* found = nullptr;
    for (const auto& signature : signatures_) {
      if (detail::equal_digests(digest, signature.digest) && found == nullptr) found = &signature;
    }
    detail::cleanse(digest.data(), digest.size());
    return found;
  }

  void say(const SignatureReading& signature, std::size_t index, const Faults* secret, std::size_t key_size,
           const Faults& body) {
    Faults faults = signature.faults;
    if (secret != nullptr) faults.insert(faults.end(), secret->begin(), secret->end());
    faults.insert(faults.end(), body.begin(), body.end());
    if (secret != nullptr && key_size != secret_size) {
      faults.push_back("secret: that key has " + std::to_string(key_size) +
                       " bytes, the service's have 32: only a verifier that allows any key length accepts it");
    }
    // A verifier refuses all secrets if one of them has a wrong length.
    for (std::size_t i = 0; i < secrets_.size(); ++i) {
      if (secrets_[i].size() == secret_size || (secret != nullptr && i == index)) continue;
      faults.push_back(secret_of(i, secrets_.size()) + ": " + detail::describe_secret(secrets_[i]));
    }
    const auto which = secret_of(index, secrets_.size());
    const auto size = counted(body_.size(), "byte");
    if (!faults.empty()) {
      said_ = lines("Found: " + which + " gives this signature after correcting " + counted(faults.size(), "fault") +
                        " (body of " + size + ").",
                    faults);
      return;
    }
    faults.emplace_back(
        "the fault lies elsewhere: the receiver had a body, header or secret other than these, or refused the event "
        "for its size (max_body), its age (freshness) or its account (a verifier for accounts)");
    if (body_.size() > default_max_body) faults.emplace_back("body: it is over 1 MiB, the default max_body");
    said_ =
        lines("No fault in what was given: " + which + " gives this signature for this body (" + size + ").", faults);
  }

  std::string_view body_;
  std::span<const std::string_view> secrets_;
  std::vector<SignatureReading> signatures_;
  HmacKeys given_;
  std::vector<SecretReading> readings_;
  HmacKeys read_;
  std::size_t tries_ = 0;
  std::optional<std::string> said_;
};

/// Suspicious properties of the body and of each secret, found without comparing signatures.
Faults suspicions(std::string_view body, std::span<const std::string_view> secrets, HeaderFields headers) {
  Faults out = detail::describe_body(body, headers);
  for (std::size_t i = 0; i < secrets.size(); ++i) {
    const auto words = detail::describe_secret(secrets[i]);
    if (!words.empty()) out.push_back(secret_of(i, secrets.size()) + ": " + words);
  }
  return out;
}

}  // namespace

namespace webhooks {

std::string explain(std::string_view body, std::optional<std::string_view> signature,
                    std::span<const std::string_view> secrets, HeaderFields headers) {
  Faults faults = suspicions(body, secrets, headers);
  if (!signature) {
    faults.insert(faults.begin(),
                  "signature: the request has no such header; is its name right, and does a proxy let it through?");
    return lines("Nothing to compare: the signature is missing.", faults);
  }
  auto signatures = detail::read_signature(*signature);
  if (signatures.empty()) {
    faults.insert(faults.begin(), detail::describe_signature(*signature));
    return lines("Nothing to compare: the signature is malformed.", faults);
  }
  if (secrets.empty()) return lines("Nothing to compare: no secret was given.", faults);

  Search search(body, secrets, std::move(signatures));
  if (const auto found = search.run()) return *found;
  if (faults.empty()) {
    faults.emplace_back(
        "body and secret look as they should; most likely the secret is that of another endpoint or account, was "
        "replaced since, or the body is that of another request");
  }
  return lines("No cause found: none of " + std::to_string(search.tries()) + " combinations gives this signature (" +
                   counted(secrets.size(), "secret") + ", body of " + counted(body.size(), "byte") + ").",
               faults);
}

std::string explain(std::string_view body, std::optional<std::string_view> signature, std::string_view secret,
                    HeaderFields headers) {
  return explain(body, signature, std::span<const std::string_view>(&secret, 1), headers);
}

}  // namespace webhooks
}  // namespace billcore
