// What the fuzz targets share: the judge, a signature of our own making, errors that are as they should be.
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

/// A broken promise: says which one and ends the program, so that libFuzzer keeps the input.
void require(bool kept, const char* promise);

/// Hex of the HMAC-SHA256 by libcrypto's one-shot function: nothing of the library is in it.
[[nodiscard]] std::string hmac_hex(std::string_view message, std::string_view secret);

/// Not empty, valid UTF-8, no control characters: a line that can be logged.
[[nodiscard]] bool is_one_line(std::string_view text);
/// Judged without the library's own check.
[[nodiscard]] bool is_utf8(std::string_view text);

/// One line, no NUL that cuts what() short.
void require_readable(const Error& error);
/// Readable, and of the kinds that reading a verified event may give: decode or out_of_range.
void require_decode(const Error& error);

/// Any JSON; throws Error(decode).
[[nodiscard]] Value parse(std::string_view text);
/// A verifier with `key`. Each input has its own, so that nothing is left of the inputs before.
[[nodiscard]] Verifier make_verifier();
/// The event of a body that this signs first; throws Error(decode).
[[nodiscard]] Event signed_event(std::string_view body, const Verifier& verifier = make_verifier());

/// Reads a value and all below it in every way there is; `path` is where it must say it stands.
void walk(const Value& value, const std::string& path);

[[nodiscard]] inline std::string_view view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace billcore::fuzz
