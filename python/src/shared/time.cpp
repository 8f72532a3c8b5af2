#include "shared/time.hpp"

#include <datetime.h>

#include <chrono>
#include <cmath>
#include <string>

#include "shared/arguments.hpp"
#include "shared/objects.hpp"

namespace billcore::python {

// Imports datetime on first use: the import is slow, and most webhook receivers read no times.
void need_datetime() {
  if (PyDateTimeAPI != nullptr) return;
  py::module_::import("datetime");  // PyDateTime_IMPORT would turn an interrupted import into an ImportError
  PyDateTime_IMPORT;
  if (PyDateTimeAPI == nullptr) throw py::error_already_set();
}

namespace {

constexpr std::int64_t longest_seconds = 1'000'000'000'000;  // 30,000 years

[[noreturn]] void out_of_range(const char* name) {
  refuse(std::string(name) + " is out of range: it must be within 30,000 years");
}

// Returns nullopt for a timedelta of more than 30,000 years. A timedelta can hold 2.7 million years, which are too
// many microseconds for 64 bits.
std::optional<std::chrono::microseconds> length_of(py::handle delta) {
  constexpr std::int64_t seconds_per_day = 86'400;
  const std::int64_t days = PyDateTime_DELTA_GET_DAYS(delta.ptr());
  if (std::abs(days) > longest_seconds / seconds_per_day) return std::nullopt;
  return std::chrono::seconds(days * seconds_per_day + PyDateTime_DELTA_GET_SECONDS(delta.ptr())) +
         std::chrono::microseconds(PyDateTime_DELTA_GET_MICROSECONDS(delta.ptr()));
}

// Returns the UTC offset. utcoffset() may run the caller's code, in a tzinfo or a subclass of datetime.
std::chrono::microseconds offset_of(py::handle value, const char* name) {
  const auto refuse_offset = [name] {
    refuse(std::string(name) + " has a time zone whose utcoffset() is not a timedelta of less than a day");
  };
  py::object offset;
  try {
    offset = value.attr("utcoffset")();
  } catch (py::error_already_set& error) {
    // datetime raises these errors if a tzinfo returns an invalid offset.
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError) && !error.matches(PyExc_OverflowError))
      throw;
    refuse_offset();
  }
  if (offset.is_none()) {
    refuse(std::string(name) + " has no time zone: pass an aware datetime, such as datetime.now(timezone.utc)");
  }
  const auto length = PyDelta_Check(offset.ptr()) ? length_of(offset) : std::nullopt;
  if (!length || std::chrono::abs(*length) >= std::chrono::days(1)) refuse_offset();
  return *length;
}

}  // namespace

py::object to_datetime(Instant instant, int offset_minutes) {
  need_datetime();
  using namespace std::chrono;
  const Instant local = instant + minutes(offset_minutes);
  const auto midnight = floor<days>(local);
  const year_month_day date{midnight};
  const hh_mm_ss time{local - midnight};
  auto zone = py::reinterpret_borrow<py::object>(PyDateTime_TimeZone_UTC);
  if (offset_minutes != 0) {
    const auto offset = checked(PyDelta_FromDSU(0, offset_minutes * 60, 0));
    zone = checked(PyTimeZone_FromOffset(offset.ptr()));
  }
  return checked(PyDateTimeAPI->DateTime_FromDateAndTime(
      static_cast<int>(date.year()), static_cast<int>(static_cast<unsigned>(date.month())),
      static_cast<int>(static_cast<unsigned>(date.day())), static_cast<int>(time.hours().count()),
      static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()),
      static_cast<int>(time.subseconds().count()), zone.ptr(), PyDateTimeAPI->DateTimeType));
}

bool is_datetime(py::handle value) {
  need_datetime();
  return PyDateTime_Check(value.ptr());
}

Instant to_instant(py::handle value, const char* name) {
  if (!is_datetime(value)) {
    refuse(std::string(name) + " must be a datetime with a time zone, not " + type_name(value));
  }
  using namespace std::chrono;
  const auto offset = offset_of(value, name);
  auto* v = value.ptr();
  const sys_days date{year_month_day{year(PyDateTime_GET_YEAR(v)),
                                     month(static_cast<unsigned>(PyDateTime_GET_MONTH(v))),
                                     day(static_cast<unsigned>(PyDateTime_GET_DAY(v)))}};
  const auto local = date.time_since_epoch() + hours(PyDateTime_DATE_GET_HOUR(v)) +
                     minutes(PyDateTime_DATE_GET_MINUTE(v)) + seconds(PyDateTime_DATE_GET_SECOND(v)) +
                     microseconds(PyDateTime_DATE_GET_MICROSECOND(v));
  return Instant(duration_cast<microseconds>(local - offset));
}

std::optional<std::chrono::microseconds> seconds_of(py::handle value, const char* name) {
  if (PyBool_Check(value.ptr()) || (!PyFloat_Check(value.ptr()) && PyIndex_Check(value.ptr()) == 0))
    return std::nullopt;
  const double number = real(value, name);
  constexpr auto limit = static_cast<double>(longest_seconds);
  if (!(number > -limit && number < limit)) out_of_range(name);
  return std::chrono::microseconds(std::llround(number * 1e6));
}

std::optional<std::chrono::microseconds> duration_of(py::handle value, const char* name) {
  if (const auto number = seconds_of(value, name)) return number;
  need_datetime();
  if (!PyDelta_Check(value.ptr())) return std::nullopt;
  const auto length = length_of(value);
  if (!length) out_of_range(name);
  return length;
}

}  // namespace billcore::python
