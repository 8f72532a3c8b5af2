// Takes the chunked transfer coding off a body (RFC 9112, 7.1). Internal.
//
// libcurl can do that, but then drops what follows the last chunk in the same read, so that an answer nobody asked for
// would go unnoticed. It still checks the coding; this only finds the data in it, and the end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace billcore::detail {

class ChunkedBody {
 public:
  /// Appends the data in the next piece of the coded body to `out`; false when that would be longer than `most` bytes.
  /// Nothing more is taken from a coding that is broken, and it has no end.
  [[nodiscard]] bool take(std::string_view piece, std::string& out, std::size_t most);
  /// Has the end arrived: the last chunk, trailers, the empty line?
  [[nodiscard]] bool ended() const noexcept { return state_ == State::ended; }
  /// Did anything arrive behind the end?
  [[nodiscard]] bool has_excess() const noexcept { return excess_; }

 private:
  enum class State : std::uint8_t { size, extension, data, data_end, trailer, ended, broken };

  State state_ = State::size;
  bool excess_ = false;
  bool empty_line_ = true;  // nothing of the present trailer line has arrived
  int digits_ = 0;          // of the size
  std::uint64_t left_ = 0;  // of the chunk
};

}  // namespace billcore::detail
