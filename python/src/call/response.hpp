// The Python class Response.
#pragma once

#include <pybind11/pybind11.h>

#include "billcore/response.hpp"

namespace billcore::python {

namespace py = pybind11;

[[nodiscard]] py::object make_response(Response response);
void bind_response(py::module_& module);

}  // namespace billcore::python
