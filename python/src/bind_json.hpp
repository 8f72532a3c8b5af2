// JSON of the core as plain Python values, as json.loads() would give them.
#pragma once

#include <pybind11/pybind11.h>

#include "billcore/detail/document.hpp"
#include "billcore/json.hpp"

namespace billcore::python {

/// dict, list, str, int of any size, float, bool, None. Throws Error(decode) or error_already_set.
[[nodiscard]] pybind11::object plain(const Value& value);
/// A whole number of any size.
[[nodiscard]] pybind11::object plain_integer(const detail::Document& document, const detail::Node* node);

}  // namespace billcore::python
