// JSON text from plain Python values, for request bodies.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

namespace billcore::python {

/// Compact JSON from str, bool, None, int of any size, float, decimal.Decimal (with its digits), list, tuple and
/// mapping with str names. NaN, infinities, lone surrogates, other types and nesting over 512 throw
/// Error(invalid_argument), which names `what`.
[[nodiscard]] std::string json_text(pybind11::handle value, const char* what);

}  // namespace billcore::python
