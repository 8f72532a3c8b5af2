// Objects that Python created without running __init__: by __new__ alone, from a pickle, or because __init__ failed.
//
// The guards of this file make methods of uninitialised objects raise ConfigError, where pybind11's methods would use
// memory without a C++ object.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <utility>

#include "billcore/error.hpp"

namespace billcore::python {

namespace py = pybind11;

/// Throws Error(config).
[[noreturn]] void refuse_uninitialised(PyTypeObject* type);
/// tp_new of types whose objects only the library creates: raises ConfigError.
PyObject* refuse_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) noexcept;
/// Call once, before the first class is bound. Afterwards pybind11's base class cannot be instantiated.
void guard_base();
/// Call after all classes of a module are bound. Methods then refuse uninitialised objects, classes without an __init__
/// cannot be instantiated from Python, and no object can change its class: each class gets a unique object size.
/// `first` is the number of classes in other modules.
void guard_types(py::module_& module, std::size_t first);
/// Metaclass of classes that users may derive from: raises ConfigError if a derived __init__ did not call the base's.
[[nodiscard]] py::handle guarding_metaclass();

namespace detail_ {
[[nodiscard]] py::detail::value_and_holder place_of(PyObject* self, const py::detail::type_info* type);
[[noreturn]] void refuse_second_init(PyTypeObject* type);
}  // namespace detail_

/// The C++ value of an object of a bound class; null if uninitialised. TypeError for an object of another class.
template <typename T>
[[nodiscard]] T* held_or_null(PyObject* self) {
  static const auto* const type = py::detail::get_type_info(typeid(T), true);
  return static_cast<T*>(detail_::place_of(self, type).value_ptr());
}

/// Like held_or_null(), but throws Error(config) if uninitialised.
template <typename T>
[[nodiscard]] T& held(PyObject* self) {
  T* const value = held_or_null<T>(self);
  if (value == nullptr) refuse_uninitialised(Py_TYPE(self));
  return *value;
}

/// The body of an __init__: fills the object with the result of `make`. Error(config) if it is already filled.
template <typename T, typename Make>
void initialise(PyObject* self, Make&& make) {
  static const auto* const type = py::detail::get_type_info(typeid(T), true);
  if (held_or_null<T>(self) != nullptr) detail_::refuse_second_init(Py_TYPE(self));
  auto made = std::make_unique<T>(std::forward<Make>(make)());
  auto place = detail_::place_of(self, type);
  if (place.value_ptr() != nullptr) detail_::refuse_second_init(Py_TYPE(self));  // `make` ran code that initialised it
  place.value_ptr() = made.release();
  type->init_instance(reinterpret_cast<py::detail::instance*>(self), nullptr);
}

}  // namespace billcore::python
