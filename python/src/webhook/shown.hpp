// How resources and events are shown: by repr(), in notebooks and by rich.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>

#include "billcore/json.hpp"
#include "webhook/model_table.hpp"

namespace billcore::python {

/// Length of what precedes the name of a public type.
inline constexpr std::size_t package_prefix = sizeof("billcore.") - 1;

/// The repr of a resource: <Order 9102337 paid 18.75 DKK>.
[[nodiscard]] pybind11::object shown(const Type& type, const Value& value);

/// Calls a function of billcore._shown, which is imported at its first use, with `self`. New reference, or null with an
/// error set.
[[nodiscard]] PyObject* call_shown(const char* function, PyObject* self) noexcept;

}  // namespace billcore::python
