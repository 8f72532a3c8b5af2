// Helpers of all fuzz targets: checks, and requirements on errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "billcore/error.hpp"
#include "billcore/json.hpp"

namespace billcore::fuzz {

/// If `kept` is false, prints `promise` and aborts, so that libFuzzer saves the input.
void require(bool kept, const char* promise);

/// Whether the text can be logged as a line: not empty, valid UTF-8, no control characters.
[[nodiscard]] bool is_one_line(std::string_view text);
/// Whether the text is UTF-8, checked without the library.
[[nodiscard]] bool is_utf8(std::string_view text);

/// Requires that the error's text is one line, without a NUL that would truncate what().
void require_readable(const Error& error);
/// Requires a readable error whose code is decode, missing_field or out_of_range: no other error may occur when JSON is
/// read.
void require_decode(const Error& error);

/// Parses any JSON; throws Error(decode) if the text is invalid.
[[nodiscard]] Value parse(std::string_view text);

/// Reads a value and all nested values in every way; `path` is the path that errors must name.
void walk(const Value& value, const std::string& path);

[[nodiscard]] inline std::string_view view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace billcore::fuzz
