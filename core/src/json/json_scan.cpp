#include "json/json_scan.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "billcore/detail/document.hpp"

namespace billcore::detail {
namespace {

// skip_string() and skip_container() return the position after the string or container, or text.size() + 1 if its end
// is missing.
std::size_t skip_string(std::string_view text, std::size_t at) noexcept {
  const auto begin = at + 1;
  for (at = text.find('"', begin); at < text.size(); at = text.find('"', at + 1)) {
    auto before = at;
    while (before > begin && text[before - 1] == '\\') --before;
    if ((at - before) % 2 == 0) return at + 1;
  }
  return text.size() + 1;
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

Extent extent(std::string_view text, Extent limit) noexcept {
  Extent found{0, 1};
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '"':
        at = skip_string(text, at) - 1;
        break;
      case '{':
      case '[':
        found.depth = std::max(found.depth, ++depth);
        if (found.depth > limit.depth) return found;
        ++found.values;
        break;
      case '}':
      case ']':
        if (depth > 0) --depth;
        break;
      case ',':
      case ':':
        if (++found.values > limit.values) return found;
        break;
      default:
        break;
    }
  }
  return found;
}

// A parser's memory use grows with the number of values, so a short text needs no check.
std::string problem_of_extent(std::string_view text) {
  constexpr std::size_t long_text = std::size_t{1} << 20U;
  constexpr std::size_t bytes_per_value = 8;  // at 8 bytes per value, the parsed values take twice the text's memory
  if (text.size() <= long_text) return {};
  const Extent most{max_nesting, std::max(long_text, text.size() / bytes_per_value)};
  const auto found = extent(text, most);
  if (found.depth > most.depth) {
    return "the body is not valid JSON: it is nested deeper than " + std::to_string(max_nesting) + " levels";
  }
  if (found.values <= most.values) return {};
  return "the body has over " + std::to_string(most.values) + " values in " + std::to_string(text.size()) +
         " bytes, too many to load at once: request less";
}

bool ends_within_json(std::string_view text) noexcept {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return true;
  const char first = text[begin];
  if (first == '{' || first == '[') return skip_container(text, begin) > text.size();
  return first == '"' && skip_string(text, begin) > text.size();
}

bool shows_its_end(std::string_view text) noexcept {
  text = trim(text);
  if (text.empty()) return false;
  const char first = text.front();
  if (first == '{' || first == '[') return skip_container(text, 0) == text.size();
  if (first == '"') return skip_string(text, 0) == text.size();
  return text == "null" || text == "true" || text == "false";
}

}  // namespace billcore::detail
