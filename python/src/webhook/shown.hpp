// Texts that show resources and events: in repr(), in notebooks and in rich.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>

#include "billcore/json.hpp"
#include "webhook/model_table.hpp"

namespace billcore::python {

/// Length of the prefix "billcore." of a public type's full name.
inline constexpr std::size_t package_prefix = sizeof("billcore.") - 1;

/// Returns the repr of a resource, such as <Order 9102337 paid 18.75 DKK>.
[[nodiscard]] pybind11::object shown(const Type& type, const Value& value);

/// Calls a function of billcore._shown with `self`; imports the module on first use. Returns a new reference, or null
/// with a Python error set.
[[nodiscard]] PyObject* call_shown(const char* function, PyObject* self) noexcept;

}  // namespace billcore::python
