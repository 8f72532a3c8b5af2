// Compares parse_time() with a separate parser, which checks the shape of the text and validates the date with libc's
// timegm().
#include <time.h>

#include <array>
#include <cstdlib>
#include <string>

#include "billcore/values.hpp"
#include "support.hpp"

namespace {

using namespace billcore;
using namespace billcore::fuzz;

struct Reading {
  std::int64_t micros;
  std::optional<int> offset;
};

// Returns the shape of a text: each digit becomes 'd', and a letter d becomes '?'.
std::string shape_of(std::string_view text) {
  std::string shape(text);
  for (auto& c : shape) c = c >= '0' && c <= '9' ? 'd' : c == 'd' ? '?' : c;
  return shape;
}

int at(std::string_view text, std::size_t place, std::size_t digits) {
  return std::atoi(std::string(text.substr(place, digits)).c_str());
}

std::optional<int> offset_of(std::string_view text, bool& good) {
  good = true;
  if (text.empty()) return std::nullopt;
  if (text == "Z" || text == "z") return 0;
  const auto shape = shape_of(text.substr(1));
  good = (text[0] == '+' || text[0] == '-') && (shape == "dd" || shape == "dddd" || shape == "dd:dd");
  if (!good) return std::nullopt;
  const int minutes = shape == "dd" ? 0 : at(text, text.size() - 2, 2);
  good = at(text, 1, 2) < 24 && minutes < 60;
  return (at(text, 1, 2) * 60 + minutes) * (text[0] == '-' ? -1 : 1);
}

std::optional<Reading> read(std::string_view text) {
  const auto shape = shape_of(text);
  constexpr std::string_view date = "dddd-dd-dd";
  if (!shape.starts_with(date) || shape.size() < 16 ||
      std::string_view("Tt ").find(shape[10]) == std::string_view::npos || shape.substr(11, 5) != "dd:dd") {
    return std::nullopt;
  }
  std::size_t end = 16;
  int second = 0;
  std::string fraction;
  if (shape.substr(end, 3) == ":dd") {
    second = at(text, end + 1, 2);
    end += 3;
    if (shape.substr(end, 2) == ".d") {
      const auto behind = std::min(shape.find_first_not_of('d', end + 1), shape.size());
      fraction = text.substr(end + 1, behind - end - 1);
      end = behind;
    }
  }
  bool good = false;
  const auto offset = offset_of(text.substr(end), good);
  if (!good) return std::nullopt;
  const int hour = at(text, 11, 2);
  const int minute = at(text, 14, 2);
  if (hour > 23 || minute > 59 || second > 60) return std::nullopt;
  tm day{};
  day.tm_year = at(text, 0, 4) - 1900;
  day.tm_mon = at(text, 5, 2) - 1;
  day.tm_mday = at(text, 8, 2);
  if (day.tm_mon < 0 || day.tm_mon > 11 || day.tm_mday < 1) return std::nullopt;
  const tm wanted = day;
  const std::int64_t midnight = timegm(&day);  // normalises an invalid day into the next month
  if (day.tm_mday != wanted.tm_mday || day.tm_mon != wanted.tm_mon) return std::nullopt;
  fraction.resize(6, '0');
  const std::int64_t seconds = midnight + hour * 3600 + (minute - offset.value_or(0)) * 60 + second;
  return Reading{seconds * 1'000'000 + std::atoi(fraction.c_str()), offset};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = view(data, size);
  const auto expected = read(text);
  const auto time = parse_time(text);
  require(time.has_value() == expected.has_value(), "times are accepted as in ISO 8601");
  if (!time) return 0;
  require(time->text.data() == text.data() && time->text.size() == text.size(), "the text is as received");
  require(time->at.time_since_epoch().count() == expected->micros, "it means this instant");
  require(time->offset_minutes == expected->offset, "it has this offset");
  return 0;
}
