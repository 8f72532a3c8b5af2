// Alternative interpretations of a signature header and of a secret.
#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/encoding.hpp"
#include "explain/explain.hpp"

namespace billcore::detail {
namespace {

// The longest text that may be a signature or a secret, in characters; longer texts are described but not repaired.
constexpr std::size_t longest = 4096;

bool is_hex(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return hex_value(c) >= 0; });
}

bool is_ascii(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) - 0x20U < 0x5FU; });
}

bool is_name(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
  });
}

// Strips white space, line ends (also the two characters "\n"), NULs, and invisible characters that are often copied
// from browsers: no-break spaces, zero-width spaces, byte order marks.
std::string_view strip_blanks(std::string_view text) noexcept {
  constexpr std::array<std::string_view, 12> blanks{
      " ", "\t", "\r", "\n", "\v", "\f", {"\0", 1}, "\\n", "\\r", "\xC2\xA0", "\xE2\x80\x8B", "\xEF\xBB\xBF"};
  for (bool again = true; again;) {
    again = false;
    for (const auto blank : blanks) {
      if (text.starts_with(blank)) {
        text.remove_prefix(blank.size());
        again = true;
      }
      if (text.ends_with(blank)) {
        text.remove_suffix(blank.size());
        again = true;
      }
    }
  }
  return text;
}

// Strips the quotes of "x", 'x', `x` and Python's b'x'.
std::string_view strip_quotes(std::string_view text) noexcept {
  auto inner = text;
  if (inner.size() > 2 && inner.front() == 'b') inner.remove_prefix(1);
  const bool quoted = inner.size() > 2 && inner.front() == inner.back() &&
                      (inner.front() == '"' || inner.front() == '\'' || inner.front() == '`');
  return quoted ? inner.substr(1, inner.size() - 2) : text;
}

/// Removes blanks and quotes around the text, in any order, and adds a fault for each kind that was removed.
std::string_view clean(std::string_view text, const char* where, Faults& faults) {
  bool blanks = false;
  bool quotes = false;
  for (std::string_view before; before != text;) {
    before = text;
    text = strip_blanks(text);
    blanks = blanks || text != before;
    const auto inner = strip_quotes(text);
    quotes = quotes || inner != text;
    text = inner;
  }
  const std::string begin(where);
  if (blanks) faults.push_back(begin + ": white space, a line end or an invisible character is around it; strip it");
  if (quotes) faults.push_back(begin + ": it is in quotes; pass what is between them");
  return text;
}

// ---- signatures

std::optional<SignatureReading> read_one(std::string_view piece, Faults faults) {
  auto text = clean(piece, "signature", faults);
  if (const auto mark = text.find_first_of("=:x"); mark != std::string_view::npos && text.size() - mark > 40) {
    const bool scheme = text[mark] != 'x' && is_name(text.substr(0, mark));
    if (scheme || text.starts_with("0x")) {
      faults.emplace_back("signature: it has a prefix (such as \"sha256=\"); the service sends the bare digits");
      text = clean(text.substr(mark + 1), "signature", faults);
    }
  }
  SignatureReading out{{}, std::move(faults)};
  if (decode_hex(text, out.digest)) return out;
  std::string bytes;
  if (decode_hex_text(text, bytes) && bytes.size() == digest_size) {
    out.faults.emplace_back(
        "signature: its hex digits are in upper case; the service sends lower case, pass the header as received");
  } else {
    bytes.clear();
    if (!decode_base64(text, bytes) || bytes.size() != digest_size) return std::nullopt;
    out.faults.emplace_back("signature: it is base64; the service sends the same bytes as 64 lowercase hex digits");
  }
  std::copy(bytes.begin(), bytes.end(), out.digest.begin());
  return out;
}

}  // namespace

std::vector<SignatureReading> read_signature(std::string_view header) {
  std::vector<SignatureReading> out;
  if (header.size() > longest) return out;
  if (auto whole = read_one(header, {})) {
    out.push_back(*std::move(whole));
    return out;
  }
  if (header.find_first_of(",;") == std::string_view::npos) return out;
  const Faults several{"signature: several values are joined in it; one is expected, so pass the header once"};
  for (auto rest = header; !rest.empty() && out.size() < 16;) {
    const auto end = std::min(rest.find_first_of(",;"), rest.size());
    if (auto one = read_one(strip_blanks(rest.substr(0, end)), several)) out.push_back(*std::move(one));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

std::string describe_signature(std::string_view header) {
  const auto text = strip_quotes(strip_blanks(header));
  const std::string begin = "signature: ";
  const std::string size = std::to_string(text.size());
  if (text.empty()) return begin + "the header is empty; does a proxy or the framework clear it?";
  if (!is_ascii(text))
    return begin + "it contains characters that no signature has (non-ASCII, NUL or control characters)";
  if (!is_hex(text))
    return begin + "it has " + size + " characters and is neither 64 hex digits nor base64 of 32 bytes";
  if (text.size() == 40) return begin + "it has 40 hex digits, as SHA-1 gives; the service uses HMAC-SHA256";
  if (text.size() == 96) return begin + "it has 96 hex digits, as SHA-384 gives; the service uses HMAC-SHA256";
  if (text.size() == 128) return begin + "it has 128 hex digits, as SHA-512 gives; the service uses HMAC-SHA256";
  return begin + "it has " + size + " hex digits, not 64: was it truncated, or joined with another?";
}

// ---- secrets

namespace {

class SecretReader {
 public:
  SecretReader(std::size_t index, std::string_view given, std::vector<SecretReading>& out)
      : index_(index), given_(given), first_(out.size()), out_(out) {}

  void run() {
    if (given_.empty() || given_.size() > longest) return;
    Faults faults;
    const auto cleaned = clean(given_, "secret", faults);
    add(cleaned, faults);
    read(cleaned, faults);
    if (cleaned != given_) read(given_, {});
    split(cleaned);
    const auto mark = cleaned.find('=');
    if (mark != std::string_view::npos && is_name(cleaned.substr(0, mark))) {
      auto named = with(faults, "its name precedes it (NAME=); pass what follows the \"=\"");
      const auto value = clean(cleaned.substr(mark + 1), "secret", named);
      add(value, named);
    }
  }

 private:
  static Faults with(Faults faults, const char* what) {
    faults.push_back(std::string("secret: ") + what);
    return faults;
  }

  void add(std::string_view key, const Faults& faults) { add(SecretText(key.begin(), key.end()), faults); }

  void add(SecretText key, const Faults& faults) {
    if (key.empty() || view(key) == given_) return;
    for (std::size_t i = first_; i < out_.size(); ++i) {
      if (out_[i].key == key) return;
    }
    out_.push_back({index_, std::move(key), faults});
  }

  void read(std::string_view text, const Faults& faults) {
    if (SecretText key; decode_hex_text(text, key)) {
      add(std::move(key), with(faults, "it is the hex text of the key; pass the bytes it stands for"));
    }
    if (SecretText key; decode_base64(text, key)) {
      add(std::move(key), with(faults, "it is the base64 text of the key; pass the bytes it stands for"));
    }
    SecretText hex;
    encode_hex_text(text, hex_digits, hex);
    add(std::move(hex), with(faults, "it was decoded from hex; pass the text as the admin UI shows it"));
    SecretText base64;
    encode_base64(text, base64_digits, base64);
    while (base64.size() % 4 != 0) base64.push_back('=');
    add(std::move(base64), with(faults, "it was decoded from base64; pass the text as the admin UI shows it"));
  }

  void split(std::string_view text) {
    constexpr std::string_view separators = ",; \t\r\n";
    if (text.find_first_of(separators) == std::string_view::npos) return;
    const auto faults = with({}, "several are joined in one text; pass each separately");
    for (auto rest = text; !rest.empty();) {
      const auto end = std::min(rest.find_first_of(separators), rest.size());
      add(strip_quotes(rest.substr(0, end)), faults);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  std::size_t index_;
  std::string_view given_;
  std::size_t first_;  // index of this secret's first interpretation in `out_`
  std::vector<SecretReading>& out_;
};

}  // namespace

std::vector<SecretReading> read_secrets(std::span<const std::string_view> secrets) {
  std::vector<SecretReading> out;
  for (std::size_t i = 0; i < secrets.size(); ++i) SecretReader(i, secrets[i], out).run();
  return out;
}

std::string describe_secret(std::string_view secret) {
  struct Kind {
    std::string_view prefix;
    const char* what;
  };
  static constexpr std::array<Kind, 8> kinds{{{"sk_", "an API key (sk_...)"},
                                              {"pk_", "an API key (pk_...)"},
                                              {"rk_", "an API key (rk_...)"},
                                              {"whsec_", "a secret of another service (whsec_...)"},
                                              {"http://", "a URL"},
                                              {"https://", "a URL"},
                                              {"-----BEGIN", "a PEM key"},
                                              {"eyJ", "a JSON Web Token"}}};
  Faults ignored;
  const auto text = clean(secret, "secret", ignored);
  const bool uuid = text.size() == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-';
  const char* looks = uuid ? "a UUID, such as an account's id" : nullptr;
  for (const auto& kind : kinds) {
    if (text.starts_with(kind.prefix)) looks = kind.what;
  }
  if (secret.empty()) return "it is empty: does the variable or file with it exist? Anybody could sign with it";
  std::string out;
  const auto say = [&out](const std::string& words) { out += (out.empty() ? "" : "; ") + words; };
  if (secret.size() != secret_size) {
    say("it has " + std::to_string(secret.size()) +
        " bytes, the service's have 32 (only a verifier that allows any key length accepts it)");
  }
  if (text != secret) say("something (white space, NUL, quotes) is around it");
  if (looks != nullptr) say(std::string("it looks like ") + looks);
  if (!out.empty()) say("copy it from the admin UI, where the endpoint is");
  return out;
}

}  // namespace billcore::detail
