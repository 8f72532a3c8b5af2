// Instants to and from Python's aware datetime.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>

namespace billcore::python {

/// An aware datetime, at this offset; throws error_already_set (ValueError or OverflowError) outside the years 1 to 9999.
[[nodiscard]] pybind11::object to_datetime(std::int64_t unix_micros, int offset_minutes);
/// UTC microseconds of an aware datetime; anything else is Error(invalid_argument).
[[nodiscard]] std::int64_t to_micros(pybind11::handle value, const char* name);
/// Microseconds of a timedelta; nothing for anything else.
[[nodiscard]] std::optional<std::int64_t> delta_micros(pybind11::handle value);

}  // namespace billcore::python
