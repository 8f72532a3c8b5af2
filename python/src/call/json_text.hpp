// JSON text from plain Python values, for request bodies.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

namespace billcore::python {

/// Returns compact JSON for str, bool, None, int of any size, float, decimal.Decimal (with all its digits), list,
/// tuple and mapping with str names. Throws Error(invalid_argument), whose text begins with `what`, for NaN,
/// infinities, lone surrogates, other types and nesting over 512.
[[nodiscard]] std::string json_text(pybind11::handle value, const char* what);

}  // namespace billcore::python
