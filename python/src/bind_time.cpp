#include "bind_time.hpp"

#include <datetime.h>

#include <chrono>

#include "arguments.hpp"
#include "objects.hpp"

namespace billcore::python {
namespace {

// On first use: importing datetime costs, and most receivers read no time.
void need_datetime() {
  if (PyDateTimeAPI == nullptr) PyDateTime_IMPORT;
  if (PyDateTimeAPI == nullptr) throw py::error_already_set();
}

std::chrono::microseconds length_of(py::handle delta) {
  using namespace std::chrono;
  return days(PyDateTime_DELTA_GET_DAYS(delta.ptr())) + seconds(PyDateTime_DELTA_GET_SECONDS(delta.ptr())) +
         microseconds(PyDateTime_DELTA_GET_MICROSECONDS(delta.ptr()));
}

}  // namespace

py::object to_datetime(std::int64_t unix_micros, int offset_minutes) {
  need_datetime();
  using namespace std::chrono;
  const sys_time<microseconds> local{microseconds(unix_micros) + minutes(offset_minutes)};
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

std::int64_t to_micros(py::handle value, const char* name) {
  need_datetime();
  if (!PyDateTime_Check(value.ptr())) {
    refuse(std::string(name) + " must be a datetime with a time zone, not " + type_name(value));
  }
  const py::object offset = value.attr("utcoffset")();
  if (offset.is_none()) {
    refuse(std::string(name) + " has no time zone: pass an aware datetime, such as datetime.now(timezone.utc)");
  }
  using namespace std::chrono;
  auto* v = value.ptr();
  const sys_days date{year_month_day{year(PyDateTime_GET_YEAR(v)),
                                     month(static_cast<unsigned>(PyDateTime_GET_MONTH(v))),
                                     day(static_cast<unsigned>(PyDateTime_GET_DAY(v)))}};
  const auto local = date.time_since_epoch() + hours(PyDateTime_DATE_GET_HOUR(v)) +
                     minutes(PyDateTime_DATE_GET_MINUTE(v)) + seconds(PyDateTime_DATE_GET_SECOND(v)) +
                     microseconds(PyDateTime_DATE_GET_MICROSECOND(v));
  return duration_cast<microseconds>(local - length_of(offset)).count();
}

std::optional<std::int64_t> delta_micros(py::handle value) {
  need_datetime();
  if (!PyDelta_Check(value.ptr())) return std::nullopt;
  return length_of(value).count();
}

}  // namespace billcore::python
