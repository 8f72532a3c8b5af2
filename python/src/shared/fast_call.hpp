// Defines functions that Python calls without pybind11 (METH_FASTCALL).
//
// pybind11's overload resolution and argument packing take longer than hashing a body. pybind11 also keeps a stack of
// each thread's calls, and aborts the process if a call ends before another that began later. This happens when a hook
// switches greenlets, whose calls then overlap in one thread. So def() defines the methods in which hooks may run.
#pragma once

#include <pybind11/pybind11.h>

#include <type_traits>

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
void def_static_method(py::handle type, const Signature& signature, FastCall function, const char* doc);
void def_function(py::module_& module, const Signature& signature, FastCall function, const char* doc,
                  const char* module_name);

/// The function of a method that def() adds. Each lambda has a type of its own, so each method has its own Method.
template <typename Type, typename F>
struct Method {
  static_assert(std::is_class_v<F>);
  inline static const Signature* signature = nullptr;
  inline static const F* body = nullptr;

  static decltype(auto) own(PyObject* self) {
    if constexpr (std::is_invocable_v<F, Type&> || std::is_invocable_v<F, Type&, const Call&>) {
      return held<Type>(self);
    } else {
      return py::reinterpret_borrow<py::object>(self);
    }
  }

  static auto result(PyObject* self, const Call& call) {
    if constexpr (std::is_invocable_v<F, decltype(own(self)), const Call&>) {
      return (*body)(own(self), call);
    } else {
      static_cast<void>(signature->bind(call));  // refuses arguments
      return (*body)(own(self));
    }
  }

  static py::object run(PyObject* self, const Call& call) {
    using Result = decltype(result(self, call));
    if constexpr (std::is_void_v<Result>) {
      result(self, call);
      return py::none();
    } else if constexpr (std::is_base_of_v<py::handle, Result>) {
      return result(self, call);
    } else {
      return py::cast(result(self, call));
    }
  }
};

/// Adds a method that calls `function(self)` or `function(self, call)`; self is a Type& or a py::object.
template <typename Type, typename F>
void def(py::class_<Type>& type, const Signature& signature, const char* doc, const F& function) {
  static const F body = function;
  Method<Type, F>::signature = &signature;
  Method<Type, F>::body = &body;
  def_method(type, signature, fast_call<Method<Type, F>::run>, doc);
}

/// Like def(), with a signature of the generated docs.
template <const auto& text, typename Type, typename F>
void def(py::class_<Type>& type, const char* doc, const F& function) {
  def(type, parsed<text>(), doc, function);
}

/// Adds the method __next__.
template <typename Type, typename F>
void def_next(py::class_<Type>& type, const F& function) {
  static const Signature signature("__next__(self, /)");
  def(type, signature, "Implement next(self).", function);
}

}  // namespace billcore::python
