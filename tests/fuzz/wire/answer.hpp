// Reads the plain cases of an HTTP/1.1 answer, by RFC 9112 and with nothing of the library's or libcurl's: what every client
// must read alike. Whatever is odd is not judged.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace billcore::fuzz {

struct PlainAnswer {
  bool whole = true;  // false: `bytes` end before it does, and neither status nor body is given
  int status = 0;
  std::string body;
  std::size_t size = 0;  // bytes of the whole, interim answers included
};

/// The answer that `bytes` begin with, of which there is at least the status line; nothing when it is not plain.
[[nodiscard]] std::optional<PlainAnswer> plain_beginning(std::string_view bytes);
/// The same, and nothing when it is not whole.
[[nodiscard]] std::optional<PlainAnswer> plain_answer(std::string_view bytes);

}  // namespace billcore::fuzz
