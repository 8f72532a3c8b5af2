// Objects that Python created without running __init__: by __new__ alone, from a pickle, or because __init__ failed.
//
// The guards of this file make the methods of uninitialised objects raise ConfigError. Without the guards, pybind11's
// methods would use memory in which no C++ object was created.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <utility>

#include "billcore/error.hpp"

namespace billcore::python {

namespace py = pybind11;

/// Throws Error(config).
[[noreturn]] void refuse_uninitialised(PyTypeObject* type);
/// The tp_new of types whose objects only the library creates: raises ConfigError.
PyObject* refuse_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) noexcept;
/// Call guard_base() once, before the first class is bound: it prevents the instantiation of pybind11's base class.
void guard_base();
/// Call guard_types() after all classes of a module are bound. guard_types() makes methods refuse uninitialised
/// objects, and prevents Python code from instantiating a class without an __init__ and from assigning to an object's
/// __class__. (Python allows this assignment only between classes of the same object size, and each class gets a unique
/// size.) `first` must be at least the number of classes that other modules have guarded.
void guard_types(py::module_& module, std::size_t first);
/// Returns the metaclass of classes that users may derive from: it raises ConfigError if a derived class's __init__
/// did not call the base class's __init__.
[[nodiscard]] py::handle guarding_metaclass();

namespace detail_ {
[[nodiscard]] py::detail::value_and_holder place_of(PyObject* self, const py::detail::type_info* type);
[[noreturn]] void refuse_second_init(PyTypeObject* type);
}  // namespace detail_

/// Returns the C++ value of an object of the bound class T; null if uninitialised. Throws TypeError for an object of
/// another class.
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

/// The body of an __init__: makes the result of `make` the object's C++ value. Throws Error(config) if the object is
/// already initialised.
template <typename T, typename Make>
void initialise(PyObject* self, Make&& make) {
  static const auto* const type = py::detail::get_type_info(typeid(T), true);
  if (held_or_null<T>(self) != nullptr) detail_::refuse_second_init(Py_TYPE(self));
  auto made = std::make_unique<T>(std::forward<Make>(make)());
  auto place = detail_::place_of(self, type);
  if (place.value_ptr() != nullptr) detail_::refuse_second_init(Py_TYPE(self));  // `make` may have initialised `self`
  place.value_ptr() = made.release();
  type->init_instance(reinterpret_cast<py::detail::instance*>(self), nullptr);
}

}  // namespace billcore::python
