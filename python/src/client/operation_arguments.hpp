// Converts Python arguments to the arguments of operations. An invalid value raises InvalidArgumentError or TypeError.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "billcore/detail/list.hpp"
#include "billcore/values.hpp"
#include "shared/arguments.hpp"

namespace billcore::python {

[[nodiscard]] Id id_of(py::handle value);
[[nodiscard]] std::optional<std::int64_t> optional_integer(py::handle value, const char* name);
[[nodiscard]] std::optional<std::string> optional_text(py::handle value, const char* name);
/// Converts the arguments page, strict and resume. The result borrows the text of `resume` from the Python object.
[[nodiscard]] detail::PagerOptions pager_options(py::handle page, py::handle strict, py::handle resume);
/// Converts the argument `state`, which is one state or a sequence of states.
[[nodiscard]] std::vector<std::string> states_of(py::handle value);

}  // namespace billcore::python
