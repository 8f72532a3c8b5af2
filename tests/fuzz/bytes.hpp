// Reads numbers and short texts from the beginning of the fuzzer's input. The numbers and texts control what a target
// does.
#pragma once

#include <cstdint>
#include <string_view>

#include "support.hpp"

namespace billcore::fuzz {

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : rest_(view(data, size)) {}

  /// Takes the next byte; 0 after the end.
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto first = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return first;
  }
  std::uint64_t number(unsigned bytes) {
    std::uint64_t out = 0;
    for (unsigned i = 0; i < bytes; ++i) out = out << 8U | byte();
    return out;
  }
  /// Takes a byte as a number below `limit`.
  std::size_t below(std::size_t limit) { return byte() % limit; }
  bool flag() { return (byte() & 1U) != 0; }
  [[nodiscard]] bool empty() const { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const { return rest_; }
  /// Takes the text up to the next NUL.
  std::string_view text() {
    const auto out = rest_.substr(0, rest_.find('\0'));
    rest_.remove_prefix(std::min(out.size() + 1, rest_.size()));
    return out;
  }

 private:
  std::string_view rest_;
};

}  // namespace billcore::fuzz
