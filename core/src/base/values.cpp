#include "billcore/values.hpp"

#include <chrono>

namespace billcore {
namespace {

// Removes exactly `count` digits from the front of the text and stores their value in `out`.
bool take_number(std::string_view& text, std::size_t count, int& out) noexcept {
  if (text.size() < count) return false;
  out = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    out = out * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return true;
}

bool take(std::string_view& text, char c) noexcept {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

bool take_fraction(std::string_view& text, std::int64_t& micros) noexcept {
  micros = 0;
  std::int64_t unit = 100'000;
  std::size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    micros += (text[digits] - '0') * unit;
    unit /= 10;
  }
  text.remove_prefix(digits);
  return digits > 0;
}

bool take_offset(std::string_view& text, std::optional<int>& minutes) noexcept {
  if (text.empty()) return true;
  if (take(text, 'Z') || take(text, 'z')) {
    minutes = 0;
    return true;
  }
  const bool minus = text.front() == '-';
  if (!take(text, '+') && !take(text, '-')) return false;
  int hour = 0;
  int minute = 0;
  if (!take_number(text, 2, hour)) return false;
  if ((take(text, ':') || !text.empty()) && !take_number(text, 2, minute)) return false;
  if (hour > 23 || minute > 59) return false;
  minutes = (hour * 60 + minute) * (minus ? -1 : 1);
  return true;
}

}  // namespace

std::optional<Time> parse_time(std::string_view text) noexcept {
  Time time{text, {}, std::nullopt};
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  std::int64_t micros = 0;
  if (!take_number(text, 4, year) || !take(text, '-') || !take_number(text, 2, month) || !take(text, '-') ||
      !take_number(text, 2, day) || !(take(text, 'T') || take(text, 't') || take(text, ' ')) ||
      !take_number(text, 2, hour) || !take(text, ':') || !take_number(text, 2, minute)) {
    return std::nullopt;
  }
  if (take(text, ':')) {
    if (!take_number(text, 2, second)) return std::nullopt;
    if (take(text, '.') && !take_fraction(text, micros)) return std::nullopt;
  }
  if (!take_offset(text, time.offset_minutes) || !text.empty()) return std::nullopt;

  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  // Second 60 is a leap second: it becomes the instant one second after :59.
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t seconds = ((days * 24 + hour) * 60 + minute - time.offset_minutes.value_or(0)) * 60 + second;
  time.at = Instant(std::chrono::microseconds(seconds * 1'000'000 + micros));
  return time;
}

}  // namespace billcore
