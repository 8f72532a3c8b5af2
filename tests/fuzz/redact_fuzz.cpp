// Plants a secret in any text, in each form that redact.hpp promises to find. The output of scrub() must not contain
// the secret.
//
// The first bytes of an input select the kind and the form of the secret. The rest of the input is the text before the
// secret, NUL, and the text after the secret.
#include <array>
#include <cctype>
#include <cstdio>
#include <vector>

#include "bytes.hpp"
#include "call/redact.hpp"

namespace {

using namespace billcore;
using namespace billcore::fuzz;

// The keys do not begin with a hex digit, so that an escape before a key cannot include the key's first character.
constexpr std::array<std::string_view, 3> keys{"Kq7#zV1x!Wm4&Rt9$Yb2*Hd5^Lc8@Jf3", "sk_live_0123456789abcdef", "k7Q"};
constexpr std::string_view address = "https://billing.example/portal/";
constexpr std::string_view signature = "zQ5v-Xw8_Uy2~Tm6.Rj4";  // signature of a portal URL

std::string printed(const char* format, unsigned value) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

// Adds one level of escaping, in the syntax that `how` selects. `choice` selects which characters are escaped: those
// that the syntax requires, all but letters and digits, or all. At the innermost level, `choice` may instead have
// a bit for each character that decides whether the character is escaped.
std::string escaped(std::string_view text, unsigned how, std::uint64_t choice, bool innermost) {
  static constexpr std::array<std::string_view, 5> musts{"\\\"", "%+&= \"<>#\\", "&<>\"\\", "&<>\"'\\", "\\'"};
  static constexpr std::array<const char*, 5> formats{"\\u%04x", "%%%02X", "&#%u;", "&#x%X;", "\\x%02x"};
  std::string out;
  for (const char c : text) {
    bool more = choice % 4 == 2 || (choice % 4 == 1 && std::isalnum(static_cast<unsigned char>(c)) == 0);
    if (choice % 4 == 3) more = innermost && (choice >> (2 + out.size() % 14) & 1U) != 0;
    if (more || musts.at(how).find(c) != std::string_view::npos) {
      out += printed(formats.at(how), static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string in_any_case(std::string_view text, std::uint64_t choice) {
  std::string out(text);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto c = static_cast<unsigned char>(out[i]);
    if ((choice >> (i % 64) & 1U) != 0)
      out[i] = static_cast<char>(std::isupper(c) != 0 ? std::tolower(c) : std::toupper(c));
  }
  return out;
}

std::string hex(std::string_view bytes, bool upper) {
  std::string out;
  for (const char c : bytes) out += printed(upper ? "%02X" : "%02x", static_cast<unsigned char>(c));
  return out;
}

std::string base64(std::string_view bytes, bool url, std::size_t line) {
  const std::string digits =
      std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") + (url ? "-_" : "+/");
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      bits = bits << 8U | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (unsigned j = 0; j < 4; ++j) out += i + j > bytes.size() ? '=' : digits[bits >> (18 - 6 * j) & 63U];
    if (line > 0 && (i / 3 + 1) % line == 0) out += "\r\n";
  }
  return out;
}

struct Planted {
  std::string text;
  std::string secret;   // the part of `text` that must not be shown
  bool digits = false;  // `text` is in hex or base64
  bool member = false;  // `text` is a JSON member
};

Planted plant(Bytes& bytes, std::string_view api_key) {
  Planted out;
  const auto kind = bytes.below(6);
  out.digits = kind == 1 || kind == 2;
  out.member = kind >= 4;
  const auto letters = bytes.number(4);
  if (kind == 0) {
    out.text = in_any_case(api_key, letters);
    out.secret = out.text;
  } else if (kind == 1) {
    out.text = hex(in_any_case(api_key, letters), bytes.flag());
    out.secret = out.text;
  } else if (kind == 2) {
    // Encode the key together with other characters, so that a base64 digit may have bits of the key and of another
    // character.
    const std::string before(bytes.below(4), 'x');
    const std::string behind(bytes.below(4), 'y');
    const bool url = bytes.flag();
    const auto line = bytes.below(3) * 5;
    out.text = base64(before + in_any_case(api_key, letters) + behind, url, line);
    // The secret consists of the base64 digits that encode only bits of the key, and of the line ends between those
    // digits.
    const auto place = [line](std::size_t digit) { return digit + (line > 0 ? digit / (4 * line) * 2 : 0); };
    const auto first = place((before.size() * 8 + 5) / 6);
    const auto last = place((before.size() + api_key.size()) * 8 / 6 - 1);
    out.secret = out.text.substr(first, last + 1 - first);
  } else if (kind == 3) {
    out.secret = signature;
    out.text = in_any_case(address, letters) + std::string(signature) + (bytes.flag() ? "?expires=9" : "");
  } else {
    static constexpr std::array<std::string_view, 3> members{"update_card_url", "invoices_url", "cancel_url"};
    const char quote = kind == 4 ? '"' : '\'';
    out.secret = signature;
    out.text = std::string(1, quote).append(members.at(bytes.below(3))) + quote + (bytes.flag() ? ": " : ":") + quote +
               "/relative/" + std::string(signature) + quote;
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const auto api_key = keys.at(bytes.below(keys.size()));
  auto planted = plant(bytes, api_key);
  const auto levels = bytes.below(5);
  for (std::size_t i = 0; i < levels; ++i) {
    const auto how = static_cast<unsigned>(bytes.below(5));
    const auto choice = bytes.number(2);
    planted.text = escaped(planted.text, how, choice, i == 0);
  }
  const auto limit = bytes.flag() ? std::string_view::npos : bytes.number(2);
  const auto before = bytes.text();
  const auto behind = bytes.rest();
  // Puts a blank before the secret, because the preceding text may end within an escape, which would otherwise include
  // the first digits of the secret.
  const char* const gap = planted.digits && levels > 0 ? " " : "";
  const auto text = std::string(before) + gap + planted.text + std::string(behind);
  // Skips an input whose surrounding text contains the secret by chance: the output may then show the secret.
  if (before.find(planted.secret) != std::string_view::npos || behind.find(planted.secret) != std::string_view::npos)
    return 0;

  // Skips an input whose preceding text may begin a JSON member, because that member's value would include the
  // planted text.
  if (planted.member && before.find("_url") != std::string_view::npos) return 0;

  const auto scrubbed = detail::scrub(text, api_key, limit);
  require(scrubbed.size() <= limit, "the output is not longer than the limit");
  const bool seen =
      scrubbed.find(planted.text) != std::string::npos || scrubbed.find(planted.secret) != std::string::npos;
  if (seen) std::fprintf(stderr, "planted: %s\nleft: %s\n", planted.text.c_str(), scrubbed.c_str());
  require(!seen, "no secret is shown");
  require(detail::scrub(text, api_key, limit) == scrubbed, "the same text gives the same output");

  const auto kept = detail::kept_text(text, limit);
  require(is_utf8(kept) && (kept.size() <= 3 * std::min(limit, text.size())), "the output is valid UTF-8");
  const auto line = detail::one_line(text, limit);
  require(line.empty() || is_one_line(line), "one line is one line");
  return 0;
}
