// Reads the plain cases of an HTTP/1.1 answer by RFC 9112, without code of the library or libcurl: the cases that every
// client must read alike. Unusual answers are not checked.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace billcore::fuzz {

struct PlainAnswer {
  bool whole = true;  // false: `bytes` are incomplete, and status and body are not set
  int status = 0;
  std::string body;
  std::size_t size = 0;  // bytes of the whole answer, interim answers included
};

/// The answer at the beginning of `bytes`, of which at least the status line is present; nothing when it is not plain.
[[nodiscard]] std::optional<PlainAnswer> plain_beginning(std::string_view bytes);
/// The same, but nothing when it is incomplete.
[[nodiscard]] std::optional<PlainAnswer> plain_answer(std::string_view bytes);

}  // namespace billcore::fuzz
