// A request that the targets `header` and `explain` read from their input, in a format in which people can write seeds.
//
// The first byte has the bits of enum Flag; then lines `name: value` follow up to an empty line, then the body. In a
// value, `%0` to `%3` stand for the right signature by secret 0 to 3, `%A` to `%D` for these signatures in upper case,
// `%n` `%r` `%z` `%%` for LF, CR, NUL and `%`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace billcore::fuzz {

struct Request {
  enum Flag : unsigned {
    count = 3U,             // number of secrets minus one
    small_body = 4U,        // max_body is 64
    odd_secrets = 8U,       // the lengths of the secrets are not those of the service
    other_header = 16U,     // the signature header has a name other than the default
    fresh = 32U,            // the verifier checks freshness
    equal_secrets = 64U,    // all secrets are equal
    without_header = 128U,  // the first value is passed alone, as the signature
  };

  unsigned flags = 0;
  std::vector<std::string> secrets;
  std::string header;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string_view body;

  explicit Request(std::string_view input);
  [[nodiscard]] bool has(Flag flag) const { return (flags & flag) != 0; }
  [[nodiscard]] std::vector<std::string_view> secret_views() const { return {secrets.begin(), secrets.end()}; }
  /// The right signatures, in the order of the secrets.
  [[nodiscard]] const std::vector<std::string>& signatures() const { return signatures_; }
  /// The value of the signature header if there is exactly one; nullopt if there is none; otherwise a text that cannot
  /// be a signature.
  [[nodiscard]] std::optional<std::string> signature() const;
  /// The value that a look-up in the headers must find: equal values, repeated or joined by commas, count as one.
  [[nodiscard]] std::optional<std::string> looked_up() const;

 private:
  [[nodiscard]] std::string expanded(std::string_view value) const;

  std::vector<std::string> signatures_;
};

}  // namespace billcore::fuzz
