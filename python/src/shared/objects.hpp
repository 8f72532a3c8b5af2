// Python objects and types created through the C API, where pybind11 cannot create them or is slower.
#pragma once

#include <pybind11/pybind11.h>

#include <string_view>
#include <vector>

#include "shared/uninitialised.hpp"

namespace billcore::python {

namespace py = pybind11;

/// Takes ownership of a new reference. Throws error_already_set if `object` is null, because a Python error is set
/// then.
template <typename Type = py::object>
[[nodiscard]] Type checked(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<Type>(object);
}

/// Creates a str from valid UTF-8.
[[nodiscard]] inline py::object string(std::string_view text) {
  return checked(PyUnicode_FromStringAndSize(text.data(), static_cast<py::ssize_t>(text.size())));
}

/// Creates a str from bytes that may not be valid UTF-8: invalid sequences become U+FFFD.
[[nodiscard]] inline py::str foreign_text(std::string_view bytes) {
  return checked<py::str>(PyUnicode_DecodeUTF8(bytes.data(), static_cast<py::ssize_t>(bytes.size()), "replace"));
}

/// As foreign_text(), but None for an empty text.
[[nodiscard]] inline py::object text_or_none(std::string_view bytes) {
  return bytes.empty() ? py::object(py::none()) : foreign_text(bytes);
}

// ---- Raw heap types: a struct that begins with a PyObject, without pybind11's holder, registry and instance dict ------------

template <typename F>
[[nodiscard]] void* slot(F* function) noexcept {
  return reinterpret_cast<void*>(function);
}

/// Creates an immutable type whose objects only C++ creates, and adds it to the module under the last part of `name`.
/// The type exists until the process ends, so `name`, `doc` and the targets of the slots must exist until then.
/// `flags` are added to the default flags. `slots` does not need a terminator.
template <typename Object>
[[nodiscard]] PyTypeObject* make_type(py::module_& module, const char* name, const char* doc,
                                      std::vector<PyType_Slot> slots, unsigned flags = 0,
                                      PyTypeObject* base = nullptr) {
  slots.insert(slots.end(), {{Py_tp_doc, const_cast<char*>(doc)}, {Py_tp_new, slot(&refuse_new)}, {0, nullptr}});
  flags |= Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE;
  PyType_Spec spec{name, static_cast<int>(sizeof(Object)), 0, flags, slots.data()};
  auto type = checked(PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject*>(base)));
  const std::string_view path(name);
  module.attr(path.substr(path.rfind('.') + 1).data()) = type;
  return reinterpret_cast<PyTypeObject*>(type.release().ptr());
}

/// Creates an object of a raw heap type that the garbage collector tracks. `init`, which must not throw, makes its
/// members.
template <typename Object, typename Init>
[[nodiscard]] py::object new_object(PyTypeObject* type, Init init) {
  auto* const object = PyObject_GC_New(Object, type);
  if (object == nullptr) throw py::error_already_set();
  init(*object);
  PyObject_GC_Track(object);
  return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(object));
}

/// Frees an object of a raw heap type. The caller must already have destroyed the object's members.
inline void free_object(PyObject* object) noexcept {
  PyTypeObject* type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(type);
}

}  // namespace billcore::python
