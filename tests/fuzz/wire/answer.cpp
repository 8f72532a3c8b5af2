#include "answer.hpp"

#include <algorithm>
#include <cctype>

namespace billcore::fuzz {
namespace {

constexpr std::size_t most_head = 16 << 10;

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

bool is_name(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '-'; });
}

std::optional<std::size_t> number(std::string_view text, int base) {
  if (text.empty() || text.size() > 6) return std::nullopt;
  std::size_t out = 0;
  for (const char c : text) {
    const auto digit = std::string_view("0123456789abcdef").find(c);
    if (digit >= static_cast<std::size_t>(base)) return std::nullopt;
    out = out * static_cast<std::size_t>(base) + digit;
  }
  return out;
}

/// Removes and returns the first line, without its CRLF.
std::optional<std::string_view> line_of(std::string_view& bytes) {
  const auto end = bytes.find("\r\n");
  if (end == std::string_view::npos || !is_printable(bytes.substr(0, end))) return std::nullopt;
  const auto line = bytes.substr(0, end);
  bytes.remove_prefix(end + 2);
  return line;
}

struct Body {
  std::string data;
  bool whole = true;
};

std::optional<Body> chunks_of(std::string_view& bytes) {
  Body out;
  while (true) {
    if (bytes.find('\n') == std::string_view::npos) {
      out.whole = false;
      return bytes.find_first_not_of("0123456789abcdef\r") == std::string_view::npos ? std::optional(out)
                                                                                     : std::nullopt;
    }
    const auto line = line_of(bytes);
    const auto size = line ? number(*line, 16) : std::nullopt;
    if (!size) return std::nullopt;
    if (bytes.size() < *size + 2) {
      out.whole = false;
      return *size > 0 && bytes.size() < *size ? std::optional(out) : std::nullopt;
    }
    out.data += bytes.substr(0, *size);
    bytes.remove_prefix(*size);
    if (!bytes.starts_with("\r\n")) return std::nullopt;
    bytes.remove_prefix(2);
    if (*size == 0) return out;
  }
}

struct Framing {
  std::optional<std::size_t> length;
  bool chunked = false;
};

/// Reads header lines up to the empty line; nullopt if a line is unusual, or if two headers give the length of the
/// body.
std::optional<Framing> headers_of(std::string_view& bytes) {
  Framing out;
  while (true) {
    const auto line = line_of(bytes);
    if (!line) return std::nullopt;
    if (line->empty()) return out;
    const auto colon = line->find(": ");
    if (colon == std::string_view::npos || !is_name(line->substr(0, colon))) return std::nullopt;
    std::string name(line->substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto value = line->substr(colon + 2);
    if (name == "content-length") {
      if (out.length || out.chunked || !(out.length = number(value, 10))) return std::nullopt;
    } else if (name == "transfer-encoding") {
      if (out.length || out.chunked || value != "chunked") return std::nullopt;
      out.chunked = true;
    } else if (name == "upgrade" || name == "connection" || name == "content-encoding") {
      return std::nullopt;
    }
  }
}

}  // namespace

std::optional<PlainAnswer> plain_beginning(std::string_view bytes) {
  const auto all = bytes.size();
  const PlainAnswer cut{false, 0, {}, 0};
  if (std::min(bytes.find("\r\n\r\n"), bytes.size()) > most_head) return std::nullopt;
  while (true) {
    const auto line = line_of(bytes);
    if (!line || !line->starts_with("HTTP/1.1 ") || line->size() < 13 || (*line)[12] != ' ') return std::nullopt;
    const auto status = number(line->substr(9, 3), 10);
    if (bytes.find("\n\n") == std::string_view::npos && bytes.find("\n\r") == std::string_view::npos &&
        !bytes.starts_with('\r') && !bytes.starts_with('\n')) {
      return cut;
    }
    const auto framing = headers_of(bytes);
    if (!status || !framing || *status < 100 || *status > 599 || *status == 101) return std::nullopt;
    if (*status < 200) {
      if (framing->length || framing->chunked) return std::nullopt;
      continue;
    }
    PlainAnswer out{true, static_cast<int>(*status), {}, 0};
    if (*status == 204 || *status == 304) {
      if (framing->length || framing->chunked) return std::nullopt;
    } else if (framing->chunked) {
      auto body = chunks_of(bytes);
      if (!body) return std::nullopt;
      if (!body->whole) return cut;
      out.body = std::move(body->data);
    } else {
      if (!framing->length) return std::nullopt;
      if (bytes.size() < *framing->length) return cut;
      out.body = bytes.substr(0, *framing->length);
      bytes.remove_prefix(*framing->length);
    }
    out.size = all - bytes.size();
    return out;
  }
}

std::optional<PlainAnswer> plain_answer(std::string_view bytes) {
  auto answer = plain_beginning(bytes);
  return answer && answer->whole ? answer : std::nullopt;
}

}  // namespace billcore::fuzz
