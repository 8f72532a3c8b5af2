// Garbage collector support for objects that hold Python objects.
//
// Each type visits exactly the references that it owns itself. A shared C++ object is visited only while it has a
// single owner: visiting a reference twice would make the collector clear objects that are in use.
#pragma once

#include <pybind11/pybind11.h>

namespace billcore::python {

namespace py = pybind11;

/// Returns the C++ value of a pybind11 object; null before __init__ has run. Runs no Python code and raises no
/// exception.
template <typename T>
[[nodiscard]] T* value_in(PyObject* self) noexcept {
  auto* const instance = reinterpret_cast<py::detail::instance*>(self);
  if (instance->simple_layout) return static_cast<T*>(instance->simple_value_holder[0]);
  if (instance->nonsimple.values_and_holders == nullptr) return nullptr;  // the object is still being created
  const auto* const type = py::detail::get_type_info(typeid(T));
  if (type == nullptr) return nullptr;
  const auto place = instance->get_value_and_holder(type, false);
  return place.inst == nullptr ? nullptr : static_cast<T*>(place.value_ptr());
}

template <typename T>
int traverse_object(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  const T* const value = value_in<T>(self);
  return value == nullptr ? 0 : value->traverse(visit, arg);
}

template <typename T>
int clear_object(PyObject* self) noexcept {
  if (T* const value = value_in<T>(self)) value->clear();
  return 0;
}

/// An argument for py::class_<T> that makes the garbage collector track the objects of the class, if T has
/// traverse(visit, arg). T must also have clear() if its objects can be part of a reference cycle in which no other
/// object can be cleared, such as a client whose hooks are the client itself.
template <typename T>
[[nodiscard]] py::custom_type_setup collected() {
  return py::custom_type_setup([](PyHeapTypeObject* heap_type) {
    auto& type = heap_type->ht_type;
    if constexpr (requires(const T& value, visitproc visit) { value.traverse(visit, nullptr); }) {
      type.tp_flags |= Py_TPFLAGS_HAVE_GC;
      type.tp_traverse = &traverse_object<T>;
      if constexpr (requires(T & value) { value.clear(); }) type.tp_clear = &clear_object<T>;
    }
  });
}

}  // namespace billcore::python
