// Detects that a body is compressed, or that somebody has unpacked it.
#include <algorithm>
#include <array>

#include "base/encoding.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "explain/explain.hpp"

namespace billcore::detail {
namespace {

// Reads a deflate stream bit by bit (RFC 1951, 3.1.1); the bits after its end are 0.
class Bits {
 public:
  explicit Bits(std::string_view data) : data_(data) {}
  unsigned take(unsigned count) {
    unsigned out = 0;
    for (unsigned i = 0; i < count; ++i, ++at_) {
      const auto byte = at_ / 8 < data_.size() ? static_cast<unsigned char>(data_[at_ / 8]) : 0U;
      out |= (byte >> (at_ % 8) & 1U) << i;
    }
    return out;
  }
  void skip_to_byte() { at_ = (at_ + 7) / 8 * 8; }

 private:
  std::string_view data_;
  std::size_t at_ = 0;
};

// Deflate without zlib's header begins with no magic number, so the function looks at the head of the first block.
bool is_raw_deflate(std::string_view body) {
  constexpr unsigned stored = 0;
  constexpr unsigned fixed = 1;
  constexpr unsigned dynamic = 2;
  Bits bits(body);
  bits.take(1);
  const auto type = bits.take(2);
  if (type == stored) {
    bits.skip_to_byte();
    const auto length = bits.take(16);
    return body.size() >= length + 5 && bits.take(16) == (~length & 0xFFFFU);
  }
  constexpr unsigned brace = 0xD5;  // the code of "{", with which an event begins, from its last bit to its first
  if (type == fixed) return bits.take(8) == brace;
  if (type != dynamic || bits.take(5) > 29 || bits.take(5) > 29) return false;
  // The code of the code lengths must be complete: the sum of 2^-length over all symbols is 1.
  unsigned sum = 0;
  for (auto count = bits.take(4) + 4; count > 0; --count) {
    if (const auto length = bits.take(3); length > 0) sum += 128U >> length;
  }
  return sum == 128;
}

// The compression that the bytes of a body show; "" if they show none.
std::string_view compression_of(std::string_view body) {
  if (body.starts_with("\x1F\x8B")) return "gzip";
  if (body.starts_with("\x28\xB5\x2F\xFD")) return "zstd";
  if (body.size() < 6 || valid_utf8(body)) return "";
  const auto first = static_cast<unsigned char>(body[0]);
  const auto second = static_cast<unsigned char>(body[1]);
  if (first % 16 == 8 && first / 16 < 8 && (first * 256U + second) % 31 == 0) return "deflate";
  return is_raw_deflate(body) ? "deflate, without zlib's header" : "";
}

// The first content coding that the headers name, as a fixed text, because explain() shows no input.
std::string_view coding_of(HeaderFields headers) {
  constexpr std::array<std::string_view, 5> known{"gzip", "x-gzip", "deflate", "br", "zstd"};
  for (const auto& [name, value] : headers) {
    if (!equal_ignoring_case(name, "content-encoding")) continue;
    for (auto rest = value; !rest.empty();) {
      const auto end = std::min(rest.find(','), rest.size());
      const auto coding = trim(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (coding.empty() || equal_ignoring_case(coding, "identity")) continue;
      const auto* found =
          std::find_if(known.begin(), known.end(), [&](auto each) { return equal_ignoring_case(coding, each); });
      return found != known.end() ? *found : "another coding";
    }
  }
  return "";
}

}  // namespace

Coding describe_coding(std::string_view body, HeaderFields headers) {
  const auto named = coding_of(headers);
  auto found = compression_of(body);
  if (found.empty() && !valid_utf8(body)) found = named;
  std::string inner;  // API Gateway passes what is not text in base64
  const bool in_base64 = found.empty() && body.size() <= large_body && decode_base64(trim(body), inner);
  if (in_base64) found = compression_of(inner);
  if (!found.empty()) {
    return {true, "body: it looks compressed (" + std::string(found) + (in_base64 ? ", in base64" : "") +
                      "); the signature is over the plain JSON, so decompress it first"};
  }
  if (named.empty()) return {false, ""};
  return {false,
          "body: it is plain, but Content-Encoding says " + std::string(named) +
              ": a proxy has unpacked the body, or the framework has; if the signature is over the packed bytes, "
              "pass those"};
}

}  // namespace billcore::detail
