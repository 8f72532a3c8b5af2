#include "http/chunked.hpp"

#include <algorithm>

namespace billcore::detail {
namespace {

constexpr int most_digits = 16;

// The value of a hex digit; -1 for any other character.
int hexadecimal(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool ChunkedBody::take(std::string_view piece, std::string& out, std::size_t most) {
  while (!piece.empty()) {
    if (state_ == State::data) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, piece.size()));
      if (size > most - out.size()) return false;
      out.append(piece.substr(0, size));
      piece.remove_prefix(size);
      left_ -= size;
      if (left_ == 0) state_ = State::data_end;
      continue;
    }
    if (state_ == State::ended || state_ == State::broken) {
      excess_ = true;
      return true;
    }
    const char next = piece.front();
    piece.remove_prefix(1);
    switch (state_) {
      case State::size:
        if (const int digit = hexadecimal(next); digit >= 0) {
          if (++digits_ > most_digits) state_ = State::broken;
          left_ = left_ << 4U | static_cast<unsigned>(digit);
          break;
        }
        state_ = digits_ > 0 ? State::extension : State::broken;
        if (state_ == State::broken) break;
        [[fallthrough]];
      case State::extension:
        if (next == '\n') state_ = left_ == 0 ? State::trailer : State::data;
        break;
      case State::data_end:
        if (next == '\n') {
          state_ = State::size;
          digits_ = 0;
        } else if (next != '\r') {
          state_ = State::broken;
        }
        break;
      case State::trailer:
        if (next == '\n') {
          if (empty_line_) state_ = State::ended;
          empty_line_ = true;
        } else if (next != '\r') {
          empty_line_ = false;
        }
        break;
      case State::data:
      case State::ended:
      case State::broken:
        break;
    }
  }
  return true;
}

}  // namespace billcore::detail
