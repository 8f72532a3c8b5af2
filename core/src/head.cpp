#include "head.hpp"

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

// Calls `each` for every element of a comma-separated header value, without white space around it.
template <typename Each>
void for_each_element(std::string_view value, Each each) {
  while (true) {
    const auto comma = value.find(',');
    each(trim(value.substr(0, comma)));
    if (comma == std::string_view::npos) return;
    value.remove_prefix(comma + 1);
  }
}

}  // namespace

void HeadReader::begin(std::string_view status_line) {
  *this = HeadReader();
  http2_ = status_line.starts_with("HTTP/2");
  const auto status = status_line.substr(std::min(status_line.find(' '), status_line.size()));
  status_ = whole_number<int>(trim(status).substr(0, 3)).value_or(0);
}

void HeadReader::take(std::string_view line) {
  if (ended_) return;
  if (status_ == 0 && line.starts_with("HTTP/")) return begin(line);
  if (line == "\r\n" || line == "\n") {
    // After the head of an interim answer another status line follows; 101 would end HTTP, and nothing asks for that.
    if (status_ >= 100 && status_ < 200 && status_ != 101) {
      status_ = 0;
    } else {
      ended_ = true;
    }
    return;
  }
  if (text_.empty()) text_.reserve(usual_bytes);
  text_.append(line);
  const char first = line.empty() ? '\0' : lower(line.front());
  if (first == 'c' || first == 't') look_at_framing(line);
}

void HeadReader::look_at_framing(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const auto name = trim(line.substr(0, colon));
  const auto value = trim(line.substr(colon + 1));
  if (equal_ignoring_case(name, "content-length")) {
    for_each_element(value, [this](std::string_view element) {
      const auto read = whole_number<std::uint64_t>(element);
      contradictory_ = contradictory_ || !read || (length_ && *length_ != *read);
      length_ = read;
    });
  } else if (equal_ignoring_case(name, "transfer-encoding") && !http2_) {
    for_each_element(
        value, [this](std::string_view element) { chunked_ = chunked_ || equal_ignoring_case(element, "chunked"); });
  }
}

}  // namespace billcore::detail
