#include "json_scan.hpp"

namespace billcore::detail {
namespace {

// Both give the place behind the end; one that has no end goes beyond the text.
std::size_t skip_string(std::string_view text, std::size_t at) noexcept {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at + 1;
}

std::size_t skip_container(std::string_view text, std::size_t at) noexcept {
  std::size_t depth = 0;
  while (at < text.size()) {
    switch (text[at]) {
      case '"':
        at = skip_string(text, at);
        continue;
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        if (--depth == 0) return at + 1;
        break;
      default:
        break;
    }
    ++at;
  }
  return text.size() + 1;
}

std::size_t skip_scalar(std::string_view text, std::size_t at) noexcept {
  const auto end = text.find_first_of(",]} \t\r\n", at);
  return end == std::string_view::npos ? text.size() : end;
}

}  // namespace

std::string_view nth_token(std::string_view text, std::size_t index, TokenPlace from) noexcept {
  std::size_t at = from.offset;
  index -= from.index;
  while (at < text.size()) {
    const char c = text[at];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == ':' || c == '}' || c == ']') {
      ++at;
      continue;
    }
    const bool container = c == '{' || c == '[';
    if (index == 0) {
      const auto end = container ? skip_container(text, at) : c == '"' ? skip_string(text, at) : skip_scalar(text, at);
      return text.substr(at, end - at);
    }
    --index;
    at = container ? at + 1 : c == '"' ? skip_string(text, at) : skip_scalar(text, at);
  }
  return {};
}

bool ends_within_json(std::string_view text) noexcept {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return true;
  const char first = text[begin];
  if (first == '{' || first == '[') return skip_container(text, begin) > text.size();
  return first == '"' && skip_string(text, begin) > text.size();
}

}  // namespace billcore::detail
