// Lists alternative readings of a signature, a secret and a body, each with a description of the mistake that leads to
// it. Internal. Descriptions consist of fixed phrases and sizes and never contain the input.
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

/// Descriptions of faults, one line each: where the fault is, what is wrong, and what to do.
using Faults = std::vector<std::string>;

/// A MAC that a signature header may have been meant to contain, and the faults of the header in that case.
struct SignatureReading {
  Digest digest;
  Faults faults;
};
/// The readings of a signature header. A well-formed header has one reading, without faults. For any other header,
/// returns the MACs that are found when common mistakes are undone; empty if there are none.
[[nodiscard]] std::vector<SignatureReading> read_signature(std::string_view header);
/// Describes a header that cannot be repaired.
[[nodiscard]] std::string describe_signature(std::string_view header);

/// A key that a secret may have been meant to be, and the faults of the secret in that case.
struct SecretReading {
  std::size_t index;  // index in the list of secrets
  SecretText key;
  Faults faults;
};
/// Alternative readings of each secret, not including the secret as given.
[[nodiscard]] std::vector<SecretReading> read_secrets(std::span<const std::string_view> secrets);
/// Suspicious properties of a secret; empty if there are none.
[[nodiscard]] std::string describe_secret(std::string_view secret);

/// The size in bytes of the largest body that is rewritten in other JSON styles.
inline constexpr std::size_t large_body = std::size_t{1} << 20U;

/// Called with each possible body; returns true to stop the visit.
using BodyVisitor = std::function<bool(std::string_view body, const Faults& faults)>;
/// Calls `visit` with each text that the body may originally have been, except the body as given: first the texts that
/// are one fault away, then those that are two faults away.
bool visit_bodies(std::string_view body, const BodyVisitor& visit);
/// Suspicious properties of a body.
[[nodiscard]] Faults describe_body(std::string_view body);

}  // namespace billcore::detail
