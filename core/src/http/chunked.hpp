// Decodes the chunked transfer coding of a body (RFC 9112, 7.1). Internal.
//
// libcurl's own decoder drops any bytes that it reads together with the last chunk but that follow it, so the client
// would not notice an unsolicited answer. libcurl still validates the coding; ChunkedBody only extracts the data and
// detects the end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace billcore::detail {

class ChunkedBody {
 public:
  /// Decodes the next piece of the encoded body and appends the data to `out`. Returns false if `out` would exceed
  /// `most` bytes. After a coding error, ignores the rest of the body, and ended() stays false.
  [[nodiscard]] bool take(std::string_view piece, std::string& out, std::size_t most);
  /// Whether the end of the body has arrived: last chunk, trailers and empty line.
  [[nodiscard]] bool ended() const noexcept { return state_ == State::ended; }
  /// Whether bytes arrived after the end of the body, or after a coding error.
  [[nodiscard]] bool has_excess() const noexcept { return excess_; }

 private:
  enum class State : std::uint8_t { size, extension, data, data_end, trailer, ended, broken };

  State state_ = State::size;
  bool excess_ = false;
  bool empty_line_ = true;  // the current trailer line is empty so far
  int digits_ = 0;          // number of digits of the chunk size so far
  std::uint64_t left_ = 0;  // bytes of the chunk that have not arrived yet
};

}  // namespace billcore::detail
