// Functions that the files in this folder define for module.cpp and for each other.
#pragma once

#include <pybind11/pybind11.h>

#include <vector>

#include "call/bound_client.hpp"

namespace billcore::python {

void bind_client(py::module_& module);
void bind_async_client(py::module_& module);
void bind_operations(py::module_& module);

/// Implements request() of both clients; `values` are the arguments in the order of arguments::Request.
[[nodiscard]] py::object request(const BoundClient& bound, const std::vector<py::handle>& values);

}  // namespace billcore::python
