// Lists alternative interpretations of a signature, a secret and a body, each with a description of the mistake that
// explains it. Internal. Descriptions consist of fixed phrases and sizes and never contain the input.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "billcore/detail/secret.hpp"
#include "billcore/webhook.hpp"
#include "webhook/hmac.hpp"

namespace billcore::detail {

/// Descriptions of faults, one line each: where the fault is, what is wrong, and what to do.
using Faults = std::vector<std::string>;

/// One interpretation of a signature header: the MAC that the sender probably meant, and the faults of the header in
/// that case.
struct SignatureReading {
  Digest digest;
  Faults faults;
};
/// The interpretations of a signature header. A well-formed header has one interpretation, without faults. If the
/// header is malformed, undoes common mistakes and returns the MACs found; the result is empty if there are none.
[[nodiscard]] std::vector<SignatureReading> read_signature(std::string_view header);
/// Describes a header that cannot be repaired.
[[nodiscard]] std::string describe_signature(std::string_view header);

/// One interpretation of a secret: the key that the user probably meant, and the faults of the secret in that case.
struct SecretReading {
  std::size_t index;  // index in the list of secrets
  SecretText key;
  Faults faults;
};
/// Alternative interpretations of each secret, not including the secret as given.
[[nodiscard]] std::vector<SecretReading> read_secrets(std::span<const std::string_view> secrets);
/// Suspicious properties of a secret; empty if there are none.
[[nodiscard]] std::string describe_secret(std::string_view secret);

/// The size in bytes of the largest body that is rewritten in other JSON styles.
inline constexpr std::size_t large_body = std::size_t{1} << 20U;

/// Called with each possible body; returns true to stop the visit.
using BodyVisitor = std::function<bool(std::string_view body, const Faults& faults)>;
/// Calls `visit` with each text that the body may originally have been, if one change has made it the body as given.
bool visit_bodies(std::string_view body, const BodyVisitor& visit);
/// Suspicious properties of a body, given the headers of its request (if they are known).
[[nodiscard]] Faults describe_body(std::string_view body, HeaderFields headers);

/// Whether a body is compressed, and what is suspicious about that; the text is empty if nothing is.
struct Coding {
  bool compressed;
  std::string fault;
};
[[nodiscard]] Coding describe_coding(std::string_view body, HeaderFields headers);

}  // namespace billcore::detail
