#include "http/head.hpp"

#include <algorithm>
#include <charconv>

namespace billcore::detail {
namespace {

constexpr std::size_t usual_bytes = 768;

template <typename Number>
std::optional<Number> whole_number(std::string_view text) noexcept {
  Number number = 0;
  const auto* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end ? std::optional<Number>(number) : std::nullopt;
}

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// The status in a line such as `HTTP/1.1 200 OK` or `HTTP/2 200`; 0 for a line of another form or a status below 100.
int status_of(std::string_view line) noexcept {
  constexpr std::string_view name = "HTTP/";
  if (!line.starts_with(name) || line.size() == name.size() || !is_digit(line[name.size()])) return 0;
  line.remove_prefix(name.size() + 1);
  if (line.size() > 1 && line.front() == '.' && is_digit(line[1])) line.remove_prefix(2);
  const auto status = line.substr(std::min(line.find_first_not_of(' '), line.size()));
  if (status.size() == line.size()) return 0;
  const auto behind = status.substr(std::min<std::size_t>(3, status.size()));
  if (!behind.empty() && behind.find_first_of(" \t\r\n") != 0) return 0;  // refuses 2000 and 200abc
  const int number = whole_number<int>(status.substr(0, 3)).value_or(0);
  return number < 100 ? 0 : number;
}

constexpr std::string_view length_name = "content-length";

// Whether a header line has this name (given in lower case).
bool is_named(std::string_view line, std::string_view name) noexcept {
  // Compare one character first, since most names differ there.
  if (line.size() <= name.size() || lower(line[name.size() - 1]) != name.back()) return false;
  if (!equal_ignoring_case(line.substr(0, name.size()), name)) return false;
  line.remove_prefix(name.size());
  return line.front() == ':' || trim(line).starts_with(':');
}

}  // namespace

void HeadReader::begin(std::string_view status_line) {
  clear();
  found_.begun = true;
  found_.http2 = status_line.starts_with("HTTP/2");
  found_.status = status_of(status_line);
}

void HeadReader::take(std::string_view line) {
  if (found_.ended) return;
  if (!found_.begun) return begin(line);
  if (line == "\r\n" || line == "\n") {
    // After an interim head another status line follows. Status 101 (switching protocols) counts as final, because the
    // client never requests a switch.
    if (found_.status >= 100 && found_.status < 200 && found_.status != 101) {
      found_.begun = false;
    } else {
      found_.ended = true;
    }
    return;
  }
  if (text_.empty()) text_.reserve(usual_bytes);
  text_.append(line);
  const char first = line.empty() ? '\0' : lower(line.front());
  if (first == 'c' && is_named(line, length_name)) {
    look_at_length(line.substr(line.find(':') + 1));
  } else if (first == 't' && !found_.http2 && is_named(line, transfer_coding_name)) {
    look_at_coding(line.substr(line.find(':') + 1));
  } else if (first == 'c' && is_named(line, content_coding_name)) {
    found_.coded = true;
  }
}

void HeadReader::look_at_length(std::string_view value) {
  for_each_element(value, [this](std::string_view element) {
    const auto read = whole_number<std::uint64_t>(element);
    found_.contradictory = found_.contradictory || !read || (found_.length && *found_.length != *read);
    found_.length = read;
  });
}

void HeadReader::look_at_coding(std::string_view value) {
  for_each_element(value, [this](std::string_view element) {
    const bool chunked = equal_ignoring_case(element, "chunked");
    found_.chunked = found_.chunked || chunked;
    found_.coded = found_.coded || !chunked;
  });
}

}  // namespace billcore::detail
