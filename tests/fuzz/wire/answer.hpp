// Reads plain HTTP/1.1 answers as in RFC 9112, without code of the library or libcurl. An answer is called plain if
// its bytes are so simple that every client must read the same answer from them. How the client reads any other
// answer is not checked.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace billcore::fuzz {

struct PlainAnswer {
  bool whole = true;  // false: the answer is incomplete, and status and body are not set
  int status = 0;
  std::string body;
  std::size_t size = 0;  // size of the whole answer in bytes, including interim answers
};

/// Reads the answer at the beginning of `bytes`; nullopt if the answer is not plain or its status line is incomplete.
[[nodiscard]] std::optional<PlainAnswer> plain_beginning(std::string_view bytes);
/// Reads the answer at the beginning of `bytes`; nullopt if the answer is incomplete or not plain.
[[nodiscard]] std::optional<PlainAnswer> plain_answer(std::string_view bytes);

}  // namespace billcore::fuzz
