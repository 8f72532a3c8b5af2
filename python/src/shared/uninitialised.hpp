// Objects that Python made and no __init__ filled: by __new__ alone, by a pickle, or since __init__ failed.
//
// pybind11 gives the methods of such an object memory that holds no object. Here they raise ConfigError instead.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <utility>

#include "billcore/error.hpp"

namespace billcore::python {

namespace py = pybind11;

/// Throws Error(config).
[[noreturn]] void refuse_uninitialised(PyTypeObject* type);
/// tp_new of the types whose objects only the library makes: ConfigError.
PyObject* refuse_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) noexcept;
/// To be called once, before the first class is bound: their base cannot be made.
void guard_base();
/// To be called when all classes of a module are bound. Their methods then refuse uninitialised objects, those without an
/// __init__ of their own cannot be made from Python, and no object changes its class. first: how many classes other
/// modules have; each class gets a size of its own, by which Python tells their objects apart.
void guard_types(py::module_& module, std::size_t first);
/// Metaclass of classes that users may derive from: says so when the derived __init__ did not call theirs.
[[nodiscard]] py::handle guarding_metaclass();

namespace detail_ {
[[nodiscard]] py::detail::value_and_holder place_of(PyObject* self, const py::detail::type_info* type);
[[noreturn]] void refuse_second_init(PyTypeObject* type);
}  // namespace detail_

/// What an object of a bound class holds, null when it is uninitialised. TypeError for an object of another class.
template <typename T>
[[nodiscard]] T* held_or_null(PyObject* self) {
  static const auto* const type = py::detail::get_type_info(typeid(T), true);
  return static_cast<T*>(detail_::place_of(self, type).value_ptr());
}

/// The same; Error(config) when it is uninitialised.
template <typename T>
[[nodiscard]] T& held(PyObject* self) {
  T* const value = held_or_null<T>(self);
  if (value == nullptr) refuse_uninitialised(Py_TYPE(self));
  return *value;
}

/// The body of an __init__: fills the object with what `make` gives. Error(config) when it is filled already.
template <typename T, typename Make>
void initialise(PyObject* self, Make&& make) {
  static const auto* const type = py::detail::get_type_info(typeid(T), true);
  if (held_or_null<T>(self) != nullptr) detail_::refuse_second_init(Py_TYPE(self));
  auto made = std::make_unique<T>(std::forward<Make>(make)());
  auto place = detail_::place_of(self, type);
  if (place.value_ptr() != nullptr) detail_::refuse_second_init(Py_TYPE(self));  // by what `make` called
  place.value_ptr() = made.release();
  type->init_instance(reinterpret_cast<py::detail::instance*>(self), nullptr);
}

}  // namespace billcore::python
