// Defines functions that Python calls without pybind11 (METH_FASTCALL), mainly those that run for every event:
// pybind11's overload resolution and argument packing take longer than hashing a body.
#pragma once

#include <pybind11/pybind11.h>

#include "shared/arguments.hpp"
#include "shared/error.hpp"
#include "shared/uninitialised.hpp"

namespace billcore::python {

/// The C function that wraps `py::object function(PyObject* self, const Call&)`.
template <auto function>
PyObject* fast_call(PyObject* self, PyObject* const* arguments, py::ssize_t count, PyObject* keywords) noexcept {
  return guarded<PyObject*>(nullptr, [&] {
    return function(self, Call{arguments, PyVectorcall_NARGS(static_cast<std::size_t>(count)), keywords})
        .release()
        .ptr();
  });
}

using FastCall = PyObject* (*)(PyObject*, PyObject* const*, py::ssize_t, PyObject*) noexcept;

/// Adds a method to a type, or a function to a module. The signature must stay valid until the process ends.
void def_method(py::handle type, const Signature& signature, FastCall function, const char* doc);
void def_function(py::module_& module, const Signature& signature, FastCall function, const char* doc,
                  const char* module_name);

}  // namespace billcore::python
