// A webhook request, which the target `header` reads from its input. The format is text, so that
// people can write seeds.
//
// The first byte has the bits of enum Flag. Header lines `name: value` follow, then an empty line, then the body. In
// a value, `%0` to `%3` stand for the correct signature with secret 0 to 3, `%A` to `%D` for the same signatures in
// upper case, and `%n` `%r` `%z` `%%` for LF, CR, NUL and `%`.
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
    odd_secrets = 8U,       // the secrets have lengths that the service does not use
    other_header = 16U,     // the signature header has a name other than the default
    fresh = 32U,            // the verifier checks freshness
    equal_secrets = 64U,    // all secrets are equal
    without_header = 128U,  // the verifier gets the first header value as the signature, no headers
  };

  unsigned flags = 0;
  std::vector<std::string> secrets;
  std::string header;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string_view body;

  explicit Request(std::string_view input);
  [[nodiscard]] bool has(Flag flag) const { return (flags & flag) != 0; }
  [[nodiscard]] std::vector<std::string_view> secret_views() const { return {secrets.begin(), secrets.end()}; }
  /// The correct signatures of the body, in the order of the secrets.
  [[nodiscard]] const std::vector<std::string>& signatures() const { return signatures_; }
  /// The value of the signature header; nullopt if the header is absent. If the header has several different values,
  /// returns a text that cannot be a signature.
  [[nodiscard]] std::optional<std::string> signature() const;
  /// The value that a look-up of the signature header must find. Several equal values, in separate headers or joined
  /// by commas, count as one value.
  [[nodiscard]] std::optional<std::string> looked_up() const;

 private:
  [[nodiscard]] std::string expanded(std::string_view value) const;

  std::vector<std::string> signatures_;
};

}  // namespace billcore::fuzz
