// Helpers of all fuzz targets: checks, a signature computed without the library, conditions on errors.
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

/// 32 bytes that no text of the library contains.
inline constexpr std::string_view key = "Kq7#zV1x!Wm4&Rt9$Yb2*Hd5^Lc8@Jf3";

/// If `kept` is false: prints the broken promise and aborts, so that libFuzzer keeps the input.
void require(bool kept, const char* promise);

/// Returns the HMAC-SHA256 in hex, by libcrypto's one-shot function instead of the library.
[[nodiscard]] std::string hmac_hex(std::string_view message, std::string_view secret);

/// Whether the text can be logged as a line: not empty, valid UTF-8, no control characters.
[[nodiscard]] bool is_one_line(std::string_view text);
/// Whether the text is UTF-8, checked without the library.
[[nodiscard]] bool is_utf8(std::string_view text);

/// Requires that the error's text is one line, without a NUL that would truncate what().
void require_readable(const Error& error);
/// Requires a readable error whose code is decode or out_of_range, the only ones that reading a verified event may
/// give.
void require_decode(const Error& error);

/// Parses any JSON; throws Error(decode).
[[nodiscard]] Value parse(std::string_view text);
/// Makes a verifier with `key`. Each input has its own verifier, so that no state remains from earlier inputs.
[[nodiscard]] Verifier make_verifier();
/// Signs the body and unwraps the event; throws Error(decode).
[[nodiscard]] Event signed_event(std::string_view body, const Verifier& verifier = make_verifier());

/// Reads a value and all nested values in every way; `path` is the path that errors must name.
void walk(const Value& value, const std::string& path);

[[nodiscard]] inline std::string_view view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace billcore::fuzz
