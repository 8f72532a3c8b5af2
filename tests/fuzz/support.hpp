// Shared by the fuzz targets: the checks, a signature computed without the library, conditions on errors.
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

/// Hex of the HMAC-SHA256 by libcrypto's one-shot function, without the library.
[[nodiscard]] std::string hmac_hex(std::string_view message, std::string_view secret);

/// Not empty, valid UTF-8, no control characters: a line that can be logged.
[[nodiscard]] bool is_one_line(std::string_view text);
/// Checked without the library.
[[nodiscard]] bool is_utf8(std::string_view text);

/// One line, without a NUL that would truncate what().
void require_readable(const Error& error);
/// Readable, and with a code that reading a verified event may give: decode or out_of_range.
void require_decode(const Error& error);

/// Any JSON; throws Error(decode).
[[nodiscard]] Value parse(std::string_view text);
/// A verifier with `key`. Each input has its own, so that no state remains from earlier inputs.
[[nodiscard]] Verifier make_verifier();
/// Signs the body and unwraps the event; throws Error(decode).
[[nodiscard]] Event signed_event(std::string_view body, const Verifier& verifier = make_verifier());

/// Reads a value and all nested values in every way; `path` is the path that errors must name.
void walk(const Value& value, const std::string& path);

[[nodiscard]] inline std::string_view view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace billcore::fuzz
