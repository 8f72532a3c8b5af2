// Functions that Python calls directly (METH_FASTCALL), for the few that are called for every event: what pybind11 does to
// find an overload, and to pack and unpack its arguments, takes longer than hashing a body.
#pragma once

#include <pybind11/pybind11.h>

#include "shared/arguments.hpp"
#include "shared/error.hpp"
#include "shared/uninitialised.hpp"

namespace billcore::python {

/// The C function around `py::object function(PyObject* self, const Call&)`.
template <auto function>
PyObject* fast_call(PyObject* self, PyObject* const* arguments, py::ssize_t count, PyObject* keywords) noexcept {
  return guarded<PyObject*>(nullptr, [&] {
    return function(self, Call{arguments, PyVectorcall_NARGS(static_cast<std::size_t>(count)), keywords})
        .release()
        .ptr();
  });
}

using FastCall = PyObject* (*)(PyObject*, PyObject* const*, py::ssize_t, PyObject*) noexcept;

/// Adds a method to a type, a function to a module. The signature must live as long as the process.
void def_method(py::handle type, const Signature& signature, FastCall function, const char* doc);
void def_function(py::module_& module, const Signature& signature, FastCall function, const char* doc,
                  const char* module_name);

}  // namespace billcore::python
