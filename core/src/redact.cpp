#include "redact.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "billcore/detail/document.hpp"
#include "text.hpp"

namespace billcore::detail {
namespace {

constexpr std::string_view redacted = "[redacted]";
constexpr std::array<std::string_view, 3> portal_urls{"update_card_url", "invoices_url", "cancel_url"};

bool is_number(std::string_view digits, int base, char wanted) noexcept {
  unsigned value = 0;
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, value, base);
  return read.ec == std::errc() && read.ptr == end && value == static_cast<unsigned char>(wanted);
}

// How many characters of the text's begin are this one: as it is, or as JSON, a URL or HTML may write it, each also
// within another of its kind. 0 when it is another one.
std::size_t spelt(std::string_view text, char wanted) noexcept {
  constexpr int levels = 8;  // with a limit, a body of nothing but escapes takes no time
  constexpr std::array<std::pair<std::string_view, char>, 4> names{
      {{"lt;", '<'}, {"gt;", '>'}, {"quot;", '"'}, {"apos;", '\''}}};
  const auto from = [text](std::size_t at) { return text.substr(std::min(at, text.size())); };
  const char first = text.empty() ? '\0' : text.front();
  std::size_t at = 1;
  const auto skip = [&](std::string_view what) {
    for (int i = 0; i < levels && from(at).starts_with(what); ++i) at += what.size();
  };
  if (first == '\\') {
    skip("\\");
    if (from(at).starts_with('u') && is_number(from(at + 1).substr(0, 4), 16, wanted)) return at + 5;
    if (wanted == first) return at;
    return from(at).starts_with(wanted) ? at + 1 : 0;
  }
  if (first == '%') {
    skip("25");
    if (wanted == first) return at;
    return is_number(from(at).substr(0, 2), 16, wanted) ? at + 2 : 0;
  }
  if (first == '&') {
    skip("amp;");
    if (from(at).starts_with('#')) {
      const bool hex = from(at + 1).starts_with('x') || from(at + 1).starts_with('X');
      const auto begin = at + (hex ? 2 : 1);
      const auto size = from(begin).substr(0, levels).find(';');
      if (size != std::string_view::npos && is_number(from(begin).substr(0, size), hex ? 16 : 10, wanted))
        return begin + size + 1;
    }
    for (const auto& [name, meaning] : names) {
      if (wanted == meaning && from(at).starts_with(name)) return at + name.size();
    }
    return wanted == first ? at : 0;
  }
  return !text.empty() && first == wanted ? 1 : 0;
}

// How many characters of the text's begin are these; 0 when they are not.
std::size_t spelt_text(std::string_view text, std::string_view wanted) noexcept {
  if (text.starts_with(wanted)) return wanted.size();
  std::size_t at = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (i > 0 && wanted[i] == '\\' && wanted[i - 1] == '\\') continue;  // a run of them was taken as one
    const auto size = spelt(text.substr(at), wanted[i]);
    if (size == 0) return 0;
    at += size;
  }
  return at;
}

// Where the value of a member begins whose name ends before `at`: behind `":"`, quotes as they are or escaped; npos when
// none does.
std::size_t value_begin(std::string_view text, std::size_t at, std::string_view quote) noexcept {
  if (!text.substr(at).starts_with(quote)) return std::string_view::npos;
  at = text.find_first_not_of(" \t\r\n:", at + quote.size());
  if (at == std::string_view::npos || !text.substr(at).starts_with(quote)) return std::string_view::npos;
  return at + quote.size();
}

std::size_t value_end(std::string_view text, std::size_t at, std::string_view quote) noexcept {
  if (quote.size() > 1) return std::min(text.find(quote, at), text.size());
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at, text.size());
}

// A place to blank out: [begin, end).
struct Span {
  std::size_t begin;
  std::size_t end;
};

// The first value of this member at or behind `from`.
Span find_member(std::string_view text, std::size_t from, std::string_view name) noexcept {
  for (auto at = text.find(name, from); at != std::string_view::npos; at = text.find(name, at + 1)) {
    if (at == 0 || text[at - 1] != '"') continue;
    const std::string_view quote = at > 1 && text[at - 2] == '\\' ? R"(\")" : R"(")";
    const auto begin = value_begin(text, at + name.size(), quote);
    if (begin != std::string_view::npos) return {begin, value_end(text, begin, quote)};
  }
  return {std::string_view::npos, std::string_view::npos};
}

// The first absolute URL at or behind `from`: a signed one is a secret wherever it stands.
Span find_url(std::string_view text, std::size_t from) noexcept {
  for (auto at = text.find("http", from); at != std::string_view::npos; at = text.find("http", at + 1)) {
    const auto colon = text.substr(at + 4).starts_with('s') ? at + 5 : at + 4;
    if (spelt_text(text.substr(colon), "://") == 0) continue;
    auto end = std::min(text.find_first_of(" \t\r\n\"'<>", colon), text.size());
    if (text[end - 1] == '\\') --end;  // of an escaped quote
    return {at, end};
  }
  return {std::string_view::npos, std::string_view::npos};
}

Span find_key(std::string_view text, std::size_t from, std::string_view key) noexcept {
  for (auto at = from; !key.empty() && at < text.size(); ++at) {
    const char c = text[at];
    if (c != key.front() && c != '\\' && c != '%' && c != '&') continue;
    if (const auto size = spelt_text(text.substr(at), key); size > 0) return {at, at + size};
  }
  return {std::string_view::npos, std::string_view::npos};
}

}  // namespace

std::string scrub(std::string_view text, std::string_view api_key, std::size_t limit) {
  std::array<Span, 5> next{};
  const auto look = [&](std::size_t which, std::size_t from) {
    next.at(which) = which < portal_urls.size()    ? find_member(text, from, portal_urls.at(which))
                     : which == portal_urls.size() ? find_url(text, from)
                                                   : find_key(text, from, api_key);
  };
  for (std::size_t i = 0; i < next.size(); ++i) look(i, 0);

  std::string out;
  std::size_t at = 0;
  while (out.size() < limit) {
    const Span hit = *std::min_element(next.begin(), next.end(), [](Span a, Span b) { return a.begin < b.begin; });
    const auto upto = std::min(hit.begin, text.size());
    out += text.substr(at, upto - at);
    if (hit.begin == std::string_view::npos) break;
    out += redacted;
    at = hit.end;
    for (std::size_t i = 0; i < next.size(); ++i) {
      if (next.at(i).begin < at || next.at(i).begin == hit.begin) look(i, at);
    }
  }
  if (out.size() > limit) out.resize(limit);
  return out;
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
