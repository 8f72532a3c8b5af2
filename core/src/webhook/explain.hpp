// What goes wrong with signatures in practice: other readings of a signature, a secret and a body, each with its fault in
// words. Internal. The words are fixed phrases and sizes: they never hold what was given.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "billcore/detail/secret.hpp"
#include "webhook/hmac.hpp"

namespace billcore::detail {

/// One line each: where, what is wrong, what to do.
using Faults = std::vector<std::string>;

/// A MAC that a signature header may mean.
struct SignatureReading {
  Digest digest;
  Faults faults;
};
/// One without a fault when the header is as it must be; else what is left after each repair; none when nothing helps.
[[nodiscard]] std::vector<SignatureReading> read_signature(std::string_view header);
/// What to say of a header that nothing helps.
[[nodiscard]] std::string describe_signature(std::string_view header);

/// A key that a secret may mean.
struct SecretReading {
  std::size_t index;  // of the secret
  SecretText key;
  Faults faults;
};
/// Every reading but the secrets as they are.
[[nodiscard]] std::vector<SecretReading> read_secrets(std::span<const std::string_view> secrets);
/// What is suspicious about a secret; empty when nothing is.
[[nodiscard]] std::string describe_secret(std::string_view secret);

/// Larger bodies are not written in other styles.
inline constexpr std::size_t large_body = std::size_t{1} << 20U;

/// Says true when it has seen enough.
using BodyVisitor = std::function<bool(std::string_view body, const Faults& faults)>;
/// Visits what the body may have been, but not the body as it is: first what one fault explains, then what takes two.
bool visit_bodies(std::string_view body, const BodyVisitor& visit);
/// What is suspicious about a body.
[[nodiscard]] Faults describe_body(std::string_view body);

}  // namespace billcore::detail
