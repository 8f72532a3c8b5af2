// Compares retry_after() with a separate parser of seconds (RFC 9110), and with dates that the test formats.
//
// The first byte of an input selects the kind of the other bytes: the text of the header, or two times and their
// formats.
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "bytes.hpp"
#include "call/retry.hpp"
#include "http/libcurl.hpp"

namespace {

using namespace billcore;
using namespace billcore::fuzz;

constexpr std::int64_t most = 1'000'000'000'000;  // milliseconds

/// Writes a time in one of the three date formats of RFC 9110, 5.6.7.
std::string written(std::int64_t time, std::size_t way) {
  static constexpr std::array<const char*, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array<const char*, 7> long_days{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                        "Thursday", "Friday", "Saturday"};
  static constexpr std::array<const char*, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::chrono::sys_seconds instant{std::chrono::seconds(time)};
  const auto day = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(instant - day);
  const auto weekday = std::chrono::weekday(day).c_encoding();
  const auto month = months.at(static_cast<unsigned>(date.month()) - 1);
  const auto of_month = static_cast<unsigned>(date.day());
  const auto hour = static_cast<int>(clock.hours().count());
  const auto minute = static_cast<int>(clock.minutes().count());
  const auto second = static_cast<int>(clock.seconds().count());
  const int year = static_cast<int>(date.year());
  std::array<char, 80> text{};
  if (way == 0) {
    std::snprintf(text.data(), text.size(), "%s, %02u %s %04d %02d:%02d:%02d GMT", days.at(weekday), of_month, month,
                  year, hour, minute, second);
  } else if (way == 1) {
    std::snprintf(text.data(), text.size(), "%s, %02u-%s-%02d %02d:%02d:%02d GMT", long_days.at(weekday), of_month,
                  month, year % 100, hour, minute, second);
  } else {
    std::snprintf(text.data(), text.size(), "%s %s %2u %02d:%02d:%02d %04d", days.at(weekday), month, of_month, hour,
                  minute, second, year);
  }
  return text.data();
}

// Takes a time from 1971 to 2069, so that a two-digit year is unambiguous.
std::int64_t instant(Bytes& bytes) {
  constexpr std::uint64_t year = 365UL * 86'400;
  return static_cast<std::int64_t>(year + bytes.number(4) % (98 * year));
}

// Whether the text is a number of seconds: an integer as in RFC 9110, or a decimal fraction, which some services
// send.
bool is_plain_number(std::string_view text) {
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0) return false;
  if (digits == text.size()) return true;
  return text[digits] == '.' && digits + 1 < text.size() &&
         text.find_first_not_of("0123456789", digits + 1) == std::string_view::npos;
}

void judge_text(std::string_view value, std::int64_t now) {
  const auto head = "X: y\r\nretry-AFTER: \t" + std::string(value) + " \r\nRetry-After: 7\r\n";
  const auto wait = detail::retry_after(head, now);
  require(!wait || (wait->count() >= 0 && wait->count() <= most), "a wait is neither negative nor endless");
  if (value.find_first_of("\r\n") != std::string_view::npos || !is_plain_number(value) || value.size() > 100) return;
  const double seconds = std::strtod(std::string(value).c_str(), nullptr);
  require(wait.has_value(), "seconds are read");
  const double expected = std::min(seconds * 1000, static_cast<double>(most));
  require(std::abs(static_cast<double>(wait->count()) - expected) <= 1, "seconds have their value");
  require(static_cast<double>(wait->count()) + 0.5 >= expected, "no wait is shorter than requested");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const bool text = bytes.flag();
  const auto now = static_cast<std::int64_t>(bytes.number(4));
  if (text) {
    judge_text(bytes.rest(), now);
    return 0;
  }
  const auto when = instant(bytes);
  const auto way = bytes.below(3);
  const bool dated = bytes.flag();
  const auto date = instant(bytes);
  auto head = "Retry-After: " + written(when, way) + "\r\n";
  if (dated) head = "Date: " + written(date, bytes.below(3)) + "\r\n" + head;
  require(detail::parse_http_date(written(when, way)) == when, "a date means its instant");
  const auto wait = detail::retry_after(head, now);
  const auto expected = std::max<std::int64_t>(when - (dated ? date : now), 0) * 1000;
  require(wait && wait->count() == std::min(expected, most), "a date is relative to the answer's own date");
  require(!detail::retry_after("Retry-Before: 7\r\n", now), "without the header there is no wait");
  return 0;
}
