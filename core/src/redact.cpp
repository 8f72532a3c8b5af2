#include "redact.hpp"

#include <algorithm>
#include <array>

#include "billcore/detail/document.hpp"
#include "url.hpp"

namespace billcore::detail {
namespace {

constexpr std::string_view redacted = "[redacted]";
constexpr std::array<std::string_view, 3> portal_urls{"update_card_url", "invoices_url", "cancel_url"};

// The key as a JSON encoder may write it.
std::string json_escaped(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '/' || c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// Where the value of a member begins whose name ends before `at`: behind `":"`, quotes as they are or escaped; npos when none does.
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
    if (!text.substr(colon).starts_with("://") && !text.substr(colon).starts_with(":\\/\\/")) continue;
    auto end = std::min(text.find_first_of(" \t\r\n\"'<>", colon), text.size());
    if (text[end - 1] == '\\') --end;  // of an escaped quote
    return {at, end};
  }
  return {std::string_view::npos, std::string_view::npos};
}

Span find_text(std::string_view text, std::size_t from, std::string_view what) noexcept {
  const auto at = what.empty() ? std::string_view::npos : text.find(what, from);
  return {at, at == std::string_view::npos ? at : at + what.size()};
}

}  // namespace

std::string scrub(std::string_view text, std::string_view api_key, std::size_t limit) {
  const std::array<std::string, 3> keys{std::string(api_key), json_escaped(api_key), percent_encode(api_key)};
  std::array<Span, 7> next{};
  const auto look = [&](std::size_t which, std::size_t from) {
    next.at(which) = which < 3   ? find_text(text, from, keys.at(which))
                     : which < 6 ? find_member(text, from, portal_urls.at(which - 3))
                                 : find_url(text, from);
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
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  if (text.size() > limit) out += "...";
  return out;
}

}  // namespace billcore::detail
