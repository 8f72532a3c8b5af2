// Helpers of all fuzz targets: checks, a signature computed without the library, requirements on errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "billcore/error.hpp"
#include "billcore/event.hpp"
#include "billcore/json.hpp"
#include "billcore/webhook.hpp"

namespace billcore::fuzz {

/// A webhook secret of 32 bytes that do not occur in any text of the library.
inline constexpr std::string_view key = "Kq7#zV1x!Wm4&Rt9$Yb2*Hd5^Lc8@Jf3";

/// If `kept` is false, prints `promise` and aborts, so that libFuzzer saves the input.
void require(bool kept, const char* promise);

/// Returns the HMAC-SHA256 in hex, computed with libcrypto's one-shot function instead of the library under test.
[[nodiscard]] std::string hmac_hex(std::string_view message, std::string_view secret);

/// Whether the text can be logged as a line: not empty, valid UTF-8, no control characters.
[[nodiscard]] bool is_one_line(std::string_view text);
/// Whether the text is UTF-8, checked without the library.
[[nodiscard]] bool is_utf8(std::string_view text);

/// Requires that the error's text is one line, without a NUL that would truncate what().
void require_readable(const Error& error);
/// Requires a readable error whose code is decode or out_of_range: no other error may occur when a verified event is
/// read.
void require_decode(const Error& error);

/// Parses any JSON; throws Error(decode) if the text is invalid.
[[nodiscard]] Value parse(std::string_view text);
/// Makes a verifier with `key`. Each input has its own verifier, so that no state remains from earlier inputs.
[[nodiscard]] Verifier make_verifier();
/// Signs the body and unwraps the event; throws Error(decode) if the body is not an event.
[[nodiscard]] Event signed_event(std::string_view body, const Verifier& verifier = make_verifier());

/// Reads a value and all nested values in every way; `path` is the path that errors must name.
void walk(const Value& value, const std::string& path);

[[nodiscard]] inline std::string_view view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace billcore::fuzz
