// Compares the library's hex, base64 and percent-encoding with independent code: simple decoders in this file, and
// libcrypto's base64 encoder.
//
// The first byte of an input selects the layout of the encoded text. The bytes after it are used twice: as a text to
// decode and as bytes to encode.
#include <openssl/evp.h>

#include <bitset>
#include <cctype>
#include <optional>
#include <vector>

#include "base/encoding.hpp"
#include "bytes.hpp"

namespace {

using namespace billcore;
using namespace billcore::fuzz;

constexpr std::string_view before = "what was there";

// Runs a decoder and returns the bytes that it appends to its output; nullopt if the decoder fails.
template <typename Decode>
std::optional<std::string> decoded(Decode decode) {
  std::string out(before);
  const bool good = decode(out);
  require(out.starts_with(before), "a decoder only appends");
  return good ? std::optional(out.substr(before.size())) : std::nullopt;
}
std::optional<std::string> from_base64(std::string_view text) {
  return decoded([text](std::string& out) { return detail::decode_base64(text, out); });
}
std::optional<std::string> from_hex(std::string_view text) {
  return decoded([text](std::string& out) { return detail::decode_hex_text(text, out); });
}
std::optional<std::string> from_percent(std::string_view text, bool form) {
  return decoded([text, form](std::string& out) { return detail::decode_percent(text, form, out); });
}

// Returns the bits of a base64 digit as text, so that model_of_base64() needs no shifts.
std::optional<std::string> bits_of(char digit) {
  const auto bits = [digit](char first, int value) {
    return std::bitset<6>(static_cast<unsigned>(digit - first + value)).to_string();
  };
  if (digit >= 'A' && digit <= 'Z') return bits('A', 0);
  if (digit >= 'a' && digit <= 'z') return bits('a', 26);
  if (digit >= '0' && digit <= '9') return bits('0', 52);
  if (digit == '+' || digit == '-') return bits(digit, 62);
  if (digit == '/' || digit == '_') return bits(digit, 63);
  return std::nullopt;
}

std::optional<std::string> model_of_base64(std::string text) {
  std::erase_if(text, [](char c) { return c == '\r' || c == '\n'; });
  const auto digits = text.find_last_not_of('=') + 1;  // 0 if the text has only '=', because npos + 1 is 0
  const auto padding = text.size() - digits;
  // A valid text has groups of four digits. The last group has at least two digits, and either no padding or complete
  // padding.
  if (digits == 0 || digits % 4 == 1) return std::nullopt;
  if (padding != 0 && padding != (4 - digits % 4) % 4) return std::nullopt;
  std::string bits;
  for (std::size_t i = 0; i < digits; ++i) {
    const auto six = bits_of(text[i]);
    if (!six) return std::nullopt;
    bits += *six;
  }
  std::string out;
  for (std::size_t i = 0; i + 8 <= bits.size(); i += 8) {
    out += static_cast<char>(std::bitset<8>(bits, i, 8).to_ulong());
  }
  return out;
}

bool is_hex(std::string_view pair) {
  return pair.size() == 2 && std::isxdigit(static_cast<unsigned char>(pair[0])) != 0 &&
         std::isxdigit(static_cast<unsigned char>(pair[1])) != 0;
}
char hex_byte(std::string_view pair) { return static_cast<char>(std::stoi(std::string(pair), nullptr, 16)); }

std::optional<std::string> model_of_hex(std::string_view text) {
  std::string out;
  for (; !text.empty(); text.remove_prefix(2)) {
    if (!is_hex(text.substr(0, 2))) return std::nullopt;
    out += hex_byte(text.substr(0, 2));
  }
  return out.empty() ? std::nullopt : std::optional(out);
}

std::optional<std::string> model_of_percent(std::string_view text, bool form) {
  std::string out;
  const auto plain = [form, &out](std::string_view part) {
    for (const char c : part) out += form && c == '+' ? ' ' : c;
  };
  auto mark = text.find('%');
  if (mark == std::string_view::npos) return std::nullopt;
  while (mark != std::string_view::npos) {
    plain(text.substr(0, mark));
    text.remove_prefix(mark + 1);
    if (!is_hex(text.substr(0, 2))) return std::nullopt;
    out += hex_byte(text.substr(0, 2));
    text.remove_prefix(2);
    mark = text.find('%');
  }
  plain(text);
  return out;
}

std::string libcrypto_base64(std::string_view bytes) {
  std::vector<unsigned char> out(bytes.size() / 3 * 4 + 5);
  const auto size =
      EVP_EncodeBlock(out.data(), reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  return {reinterpret_cast<const char*>(out.data()), static_cast<std::size_t>(size)};
}

void judge_encoders(std::string_view bytes, unsigned layout) {
  const bool url_safe = (layout & 1U) != 0;
  std::string base64(before);
  detail::encode_base64(bytes, url_safe ? detail::base64url_digits : detail::base64_digits, base64);
  require(base64.starts_with(before), "an encoder only appends");
  base64.erase(0, before.size());
  auto padded = libcrypto_base64(bytes);
  if (url_safe) {
    for (auto& c : padded) c = c == '+' ? '-' : c == '/' ? '_' : c;
  }
  require(base64 == padded.substr(0, padded.find('=')), "base64 follows RFC 4648, without padding");

  auto& text = (layout & 2U) != 0 ? padded : base64;
  const auto line = (layout >> 3U) * 4 + 1;
  for (auto at = static_cast<std::size_t>(line); (layout & 4U) != 0 && at < text.size(); at += line + 2) {
    text.insert(at, "\r\n");
  }
  const auto back = from_base64(text);
  require(bytes.empty() ? !back : back == bytes, "base64 is read back, padded or not, in lines or not");

  for (const auto digits : {detail::hex_digits, detail::upper_hex_digits}) {
    std::string hex(before);
    detail::encode_hex_text(bytes, digits, hex);
    require(hex.starts_with(before) && hex.size() == before.size() + 2 * bytes.size(), "a byte has two digits");
    hex.erase(0, before.size());
    require(hex.find_first_not_of(digits) == std::string::npos, "hex has the requested digits");
    const auto plain = from_hex(hex);
    require(bytes.empty() ? !plain : plain == bytes, "hex is read back");
    std::string percent;
    for (std::size_t i = 0; i < hex.size(); i += 2) percent.append("%").append(hex, i, 2);
    const auto unescaped = from_percent(percent, (layout & 1U) != 0);
    require(bytes.empty() ? !unescaped : unescaped == bytes, "percent-encoding is read back");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes input(data, size);
  const auto layout = input.byte();
  const auto text = input.rest();
  require(from_base64(text) == model_of_base64(std::string(text)), "base64 is accepted as in RFC 4648");
  require(from_hex(text) == model_of_hex(text), "hex is accepted as in RFC 4648");
  for (const bool form : {false, true}) {
    require(from_percent(text, form) == model_of_percent(text, form), "percent-encoding is accepted as in RFC 3986");
  }
  judge_encoders(text, layout);
  return 0;
}
