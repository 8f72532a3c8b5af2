// Why scrub() removes escapes level by level: an error text shows a part of an answer, in which the server or a proxy
// may echo the API key or a signed URL. The echo may be escaped several times over: a/b is a\/b in JSON, a\\\/b in JSON
// within JSON, a%2Fb in a URL, and a&#x2F;b in HTML. So the class Search
// - looks for the key and for secret members in the text as it is, then removes one level of escapes and looks again,
//   until no escape is left, or max_escape_levels is reached, which bounds the time that a hostile text costs;
// - at each level decodes runs of base64 and hex digits, because a key may be encoded before it is echoed;
// - looks for URLs last, when all levels are removed;
// - maps each hit back to the text as it is (Unescaped::place), because that text is shown, with its hits replaced.
#include "call/redact.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "base/encoding.hpp"
#include "base/text.hpp"
#include "base/unescape.hpp"
#include "base/utf8.hpp"
#include "billcore/detail/document.hpp"
#include "call/secret_fields.hpp"

namespace billcore::detail {
namespace {

constexpr std::string_view redacted = "[redacted]";
constexpr std::string_view escapes_and_quotes = "\\%&\"'";
constexpr std::size_t shortest_encoded_key = 3;               // the encoding of a shorter key occurs in almost any text
constexpr std::size_t longest_read = std::size_t{64} << 10U;  // scrub() stops after searching this much of a text
constexpr std::size_t least_margin = std::size_t{4} << 10U;

int base64_value(char c) noexcept { return base64_values[static_cast<unsigned char>(c)]; }

struct Encoding {
  int (*value)(char) noexcept;
  unsigned bits;       // bits per digit
  std::size_t phases;  // number of digits after which a byte boundary and a digit boundary coincide
};
constexpr std::array<Encoding, 2> encodings{{{&base64_value, 6, 4}, {&hex_value, 4, 2}}};

// Finds secrets in one text, also after removing its escapes level by level.
class Search {
 public:
  Search(std::string_view text, std::string_view api_key) : text_(text) {
    if (api_key.empty()) return;
    // If the key contains characters that look like an escape, the text may contain the key as given, or with that
    // escape removed. Search for both.
    Unescaped key(api_key);
    keys_.push_back(lower(key.text()));
    for (int i = 0; i < max_escape_levels && key.unescape();) ++i;
    if (auto other = lower(key.text()); other != keys_.front()) keys_.push_back(std::move(other));
  }

  /// Returns the ranges of the text that contain secrets, sorted and without overlaps.
  std::vector<Span> run() {
    look_for_key();
    find_members();
    for (int i = 0; i < max_escape_levels && text_.unescape(); ++i) {
      look_for_key();
      find_members();
    }
    find_urls();
    std::sort(found_.begin(), found_.end(), [](Span a, Span b) { return a.begin < b.begin; });
    std::vector<Span> out;
    for (const auto span : found_) {
      if (out.empty() || span.begin >= out.back().end) {
        out.push_back(span);
      } else {
        out.back().end = std::max(out.back().end, span.end);
      }
    }
    return out;
  }

 private:
  void add(std::size_t begin, std::size_t end) { found_.push_back(text_.place({begin, end})); }

  void look_for_key() {
    lowered_ = lower(text_.text());
    if (keys_.empty()) return;
    for (const auto& key : keys_) {
      for (auto at = lowered_.find(key); at != std::string::npos; at = lowered_.find(key, at + key.size())) {
        add(at, at + key.size());
      }
    }
    if (keys_.front().size() < shortest_encoded_key) return;
    for (const auto& encoding : encodings) find_encoded(encoding);
  }

  // Searches each run of hex or base64 digits that is long enough for the key. A run may continue on the next line, as
  // base64 often does.
  void find_encoded(const Encoding& encoding) {
    const auto& text = text_.text();
    const auto flush = [&] {
      if (digits_.size() * encoding.bits / 8 >= keys_.front().size()) {
        for (std::size_t phase = 0; phase < encoding.phases; ++phase) find_decoded(encoding, phase);
      }
      digits_.clear();
      places_.clear();
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
      const int value = encoding.value(text[i]);
      if (value >= 0) {
        digits_.push_back(static_cast<unsigned char>(value));
        places_.push_back(i);
      } else if (text[i] != '\r' && text[i] != '\n') {
        flush();
      }
    }
    flush();
  }

  // Decodes the current run of digits from digit `phase` on, and searches the decoded bytes for the key.
  void find_decoded(const Encoding& encoding, std::size_t phase) {
    decoded_.clear();
    std::uint32_t bits = 0;
    unsigned have = 0;
    for (auto i = phase; i < digits_.size(); ++i) {
      bits = bits << encoding.bits | digits_[i];
      have += encoding.bits;
      if (have < 8) continue;
      have -= 8;
      decoded_ += lower(static_cast<char>(bits >> have & 0xFFU));
    }
    const auto& key = keys_.front();
    const auto& text = text_.text();
    for (auto at = decoded_.find(key); at != std::string::npos; at = decoded_.find(key, at + key.size())) {
      const auto first = phase + at * 8 / encoding.bits;
      const auto last = phase + ((at + key.size()) * 8 - 1) / encoding.bits;
      auto end = places_[last] + 1;
      while (encoding.bits == 6 && end < text.size() && text[end] == '=') ++end;
      add(places_[first], end);
    }
  }

  // Finds the values of the portal URL members, `"name": "value"`. The quotes around the name and the value may be
  // escaped in any way. A value ends at a quote that is escaped in the same way as its opening quote; any other quote
  // is part of the value.
  void find_members() {
    const auto& text = text_.text();
    for (const auto name : secret_fields) {
      for (auto at = lowered_.find(name); at != std::string::npos; at = lowered_.find(name, at)) {
        const auto before = at;
        at += name.size();
        if (before == 0 || at >= text.size() || text[at] != text[before - 1] || !is_quote(text[at])) continue;
        const auto open = text.find_first_not_of(" \t\r\n:", at + 1);
        if (open == std::string::npos || open == at + 1 || !is_quote(text[open])) continue;
        const auto value = text_.place({open + 1, open + 1}).begin;
        if (!values_.insert(value).second) continue;  // this value was already found at an earlier escape level
        auto end = text.find(text[open], open + 1);
        while (end != std::string::npos && (is_escaped(end) || text_.spelling(end) != text_.spelling(open))) {
          end = text.find(text[open], end + 1);
        }
        at = std::min(end, text.size());
        add(open + 1, at);
      }
    }
  }

  // Whether a JSON backslash escapes the character at `at`, at the current level of escapes.
  [[nodiscard]] bool is_escaped(std::size_t at) const noexcept {
    const auto& text = text_.text();
    std::size_t backslashes = 0;
    while (backslashes < at && text[at - 1 - backslashes] == '\\') ++backslashes;
    return backslashes % 2 != 0;
  }

  // Finds absolute URLs anywhere in the text, because a signed URL is a secret.
  void find_urls() {
    const auto& text = text_.text();
    for (auto at = lowered_.find("http"); at != std::string::npos; at = lowered_.find("http", at)) {
      const auto begin = at;
      at += 4;
      if (text.size() > at && lowered_[at] == 's') ++at;
      if (!std::string_view(lowered_).substr(at).starts_with("://")) continue;
      const auto before = begin > 0 && is_quote(text[begin - 1]) ? text_.spelling(begin - 1) : std::string_view();
      while (at < text.size() && !ends_url(at, before)) ++at;
      add(begin, at);
    }
  }

  static bool is_quote(char c) noexcept { return c == '"' || c == '\''; }

  // Whether the character at `at` ends a URL. `before` is the quote in front of the URL, as it is spelt in the text. No
  // escaped character ends the URL, except a quote with the same spelling as `before`.
  [[nodiscard]] bool ends_url(std::size_t at, std::string_view before) const noexcept {
    const char c = text_.text()[at];
    const auto spelling = text_.spelling(at);
    if (is_quote(c) && spelling == before) return true;
    if (text_.was_percent_encoded(at) || spelling.back() != c) return false;
    return c == ' ' || is_control(c) || c == '"' || c == '<' || c == '>';
  }

  Unescaped text_;
  std::string lowered_;
  std::vector<std::string> keys_;  // the API key in lower case: as given, and with its escapes removed
  std::vector<Span> found_;
  std::set<std::size_t> values_;       // start of each member value found
  std::vector<unsigned char> digits_;  // digits of the current run
  std::vector<std::size_t> places_;    // position of each digit in the text
  std::string decoded_;
};

// Searches the whole text for secrets, but returns only its first `shown` bytes, scrubbed and cut to `limit` bytes.
std::string scrub_begin(std::string_view text, std::string_view api_key, std::size_t shown, std::size_t limit) {
  std::string out;
  std::size_t at = 0;
  for (const auto span : Search(text, api_key).run()) {
    if (span.begin >= shown || out.size() >= limit) break;
    out.append(text.substr(at, span.begin - at)).append(redacted);
    at = span.end;
  }
  if (at < shown) out += text.substr(at, shown - at);
  if (out.size() > limit) out.resize(limit);
  return out;
}

// Whether a text certainly contains no secret, because it has no escapes, no quotes and no "://", and is shorter than
// the key. For most header fields the result is true, so scrub() need not search them.
bool has_no_room_for_a_secret(std::string_view text, std::string_view api_key) noexcept {
  const auto plain = [](std::string_view each) {
    return each.find_first_of(escapes_and_quotes) == std::string_view::npos;
  };
  const bool no_key = api_key.empty() || (text.size() < api_key.size() && plain(api_key));
  return no_key && plain(text) && text.find("://") == std::string_view::npos;
}

}  // namespace

std::string scrub(std::string_view text, std::string_view api_key, std::size_t limit) {
  if (has_no_room_for_a_secret(text, api_key)) return std::string(text.substr(0, limit));
  // The search would not find a secret that is cut off at the end of the searched part, so the last `margin` bytes of
  // that part are not returned.
  const std::size_t margin = std::max(least_margin, 16 * api_key.size());
  for (std::size_t shown = limit; shown < text.size() && text.size() - shown > margin; shown *= 4) {
    auto out = scrub_begin(text.substr(0, shown + margin), api_key, shown, limit);
    if (out.size() == limit || shown >= longest_read) return out;
  }
  return scrub_begin(text, api_key, text.size(), limit);
}

std::string kept_text(std::string_view text, std::size_t limit) {
  if (text.size() > limit) {
    while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0U) == 0x80U) --limit;
    text = text.substr(0, limit);
  }
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t valid = utf8_prefix(text);
    out += text.substr(0, valid);
    text.remove_prefix(valid);
    if (!text.empty()) {
      out += "\xEF\xBF\xBD";
      text.remove_prefix(1);
    }
  }
  return out;
}

std::string one_line(std::string_view text, std::size_t limit) {
  std::string out = kept_text(text, limit);
  std::replace_if(out.begin(), out.end(), is_control, ' ');
  if (text.size() > limit) out += "...";
  return out;
}

}  // namespace billcore::detail
