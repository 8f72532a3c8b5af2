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

// Whether a header line has this name (given in lower case). Compares the first and last character first, since most
// names differ there.
bool is_named(std::string_view line, std::string_view name) noexcept {
  if (line.size() <= name.size() || lower(line[name.size() - 1]) != name.back() || lower(line[0]) != name[0] ||
      !equal_ignoring_case(line.substr(0, name.size()), name)) {
    return false;
  }
  const auto behind = line.find_first_not_of(" \t\r", name.size());
  return behind != std::string_view::npos && line[behind] == ':';
}

}  // namespace

void HeadReader::begin(std::string_view status_line) {
  *this = HeadReader();
  begun_ = true;
  http2_ = status_line.starts_with("HTTP/2");
  status_ = status_of(status_line);
}

void HeadReader::take(std::string_view line) {
  if (ended_) return;
  if (!begun_) return begin(line);
  if (line == "\r\n" || line == "\n") {
    // After an interim head another status line follows. Status 101 (switching protocols) counts as final, because the
    // client never requests a switch.
    if (status_ >= 100 && status_ < 200 && status_ != 101) {
      begun_ = false;
    } else {
      ended_ = true;
    }
    return;
  }
  if (text_.empty()) text_.reserve(usual_bytes);
  text_.append(line);
  const char first = line.empty() ? '\0' : lower(line.front());
  if (first == 'c' && is_named(line, length_name)) {
    look_at_length(line.substr(line.find(':') + 1));
  } else if (first == 't' && !http2_ && is_named(line, transfer_coding_name)) {
    look_at_coding(line.substr(line.find(':') + 1));
  } else if (first == 'c' && is_named(line, content_coding_name)) {
    coded_ = true;
  }
}

void HeadReader::look_at_length(std::string_view value) {
  for_each_element(value, [this](std::string_view element) {
    const auto read = whole_number<std::uint64_t>(element);
    contradictory_ = contradictory_ || !read || (length_ && *length_ != *read);
    length_ = read;
  });
}

void HeadReader::look_at_coding(std::string_view value) {
  for_each_element(value, [this](std::string_view element) {
    const bool chunked = equal_ignoring_case(element, "chunked");
    chunked_ = chunked_ || chunked;
    coded_ = coded_ || !chunked;
  });
}

}  // namespace billcore::detail
