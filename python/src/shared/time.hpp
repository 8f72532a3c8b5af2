// Converts instants to and from Python's aware datetime, and durations from Python.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <optional>

#include "billcore/values.hpp"

namespace billcore::python {

/// Imports datetime. Without a call of need_datetime(), the other functions import datetime on first use.
void need_datetime();
/// Creates an aware datetime with this UTC offset. Outside the years 1 to 9999, throws error_already_set (ValueError
/// or OverflowError).
[[nodiscard]] pybind11::object to_datetime(Instant instant, int offset_minutes);

// Readers. `name`: the argument's name, for the error. An invalid value throws Error(invalid_argument). Durations are
// limited to 30,000 years, so that computations do not overflow.

[[nodiscard]] bool is_datetime(pybind11::handle value);
/// Converts an aware datetime, whose utcoffset() must be a timedelta of less than a day.
[[nodiscard]] Instant to_instant(pybind11::handle value, const char* name);
/// Converts seconds, an int or a float; returns nullopt for any other type.
[[nodiscard]] std::optional<std::chrono::microseconds> seconds_of(pybind11::handle value, const char* name);
/// Converts seconds, an int or a float, or a timedelta; returns nullopt for any other type.
[[nodiscard]] std::optional<std::chrono::microseconds> duration_of(pybind11::handle value, const char* name);

}  // namespace billcore::python
