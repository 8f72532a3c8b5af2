// Classes of pybind11, as billcore's modules define them.
#pragma once

#include <pybind11/pybind11.h>

#include "shared/arguments.hpp"
#include "shared/collect.hpp"
#include "shared/uninitialised.hpp"

namespace billcore::python {

/// A class whose objects only the library makes. They cannot be pickled or copied: `why` is the reason, or what the user
/// can do instead.
template <typename T>
py::class_<T> final_class(py::module_& module, const char* name, const char* doc, const char* why,
                          const char* home = "billcore") {
  auto type = py::class_<T>(module, name, py::is_final(), collected<T>(), doc);
  type.attr("__module__") = home;
  refuse_copies(type, why);
  return type;
}

/// A class that users make objects of, and may derive from.
template <typename T>
py::class_<T> open_class(py::module_& module, const char* name, const char* init_signature, const char* doc,
                         const char* home = "billcore") {
  auto type = py::class_<T>(module, name, collected<T>(), class_doc(name, init_signature, doc).c_str(),
                            py::metaclass(guarding_metaclass()));
  type.attr("__doc__") = doc;
  type.attr("__module__") = home;
  return type;
}

}  // namespace billcore::python
