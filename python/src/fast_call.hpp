// Functions that Python calls directly (METH_FASTCALL), for the few that are called for every event: what pybind11 does to
// find an overload, and to pack and unpack its arguments, takes longer than hashing a body.
#pragma once

#include <pybind11/pybind11.h>

#include "arguments.hpp"
#include "bind_error.hpp"

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

/// What a pybind11 object holds, given that its type is right (which a method of the type may take for granted).
/// TypeError when its __init__ was never called.
template <typename T>
T& held(PyObject* self) {
  static const auto* const type = py::detail::get_type_info(typeid(T), true);
  auto* instance = reinterpret_cast<py::detail::instance*>(self);
  auto* value = static_cast<T*>(instance->get_value_and_holder(type).value_ptr());
  if (value == nullptr) type_error(std::string(Py_TYPE(self)->tp_name) + ".__init__() was not called");
  return *value;
}

}  // namespace billcore::python
