#include "redact.hpp"

#include <array>

#include "billcore/detail/document.hpp"

namespace billcore::detail {
namespace {

constexpr std::string_view redacted = "[redacted]";

void replace_all(std::string& text, std::string_view what) {
  if (what.empty()) return;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + redacted.size())) {
    text.replace(at, what.size(), redacted);
  }
}

// Blanks the string behind every `"name":`.
void redact_member(std::string& text, std::string_view name) {
  const std::string key = '"' + std::string(name) + '"';
  for (auto at = text.find(key); at != std::string::npos; at = text.find(key, at)) {
    at += key.size();
    auto begin = text.find_first_not_of(" \t\r\n:", at);
    if (begin == std::string::npos || text[begin] != '"') continue;
    auto end = ++begin;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    if (end > text.size()) end = text.size();
    text.replace(begin, end - begin, redacted);
    at = begin + redacted.size();
  }
}

}  // namespace

std::string scrub(std::string_view text, std::string_view api_key) {
  static constexpr std::array<std::string_view, 3> portal_urls{"update_card_url", "invoices_url", "cancel_url"};
  std::string out(text);
  replace_all(out, api_key);
  for (const auto name : portal_urls) redact_member(out, name);
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
