#include "shared/uninitialised.hpp"

#include <array>
#include <utility>

#include "shared/error.hpp"
#include "shared/objects.hpp"

namespace billcore::python {
namespace {

constexpr std::size_t most_types = 64;  // the most types that a module may have

std::string name_of(PyTypeObject* type) {
  const std::string name = type->tp_name;
  return name.substr(name.rfind('.') + 1);
}

// When a method gets an object without a C++ value, pybind11 calls the type's operator_new. operator_new does not
// receive the type, so each type has its own function.
std::array<PyTypeObject*, most_types> guarded_types{};

template <std::size_t... index>
constexpr auto refusals(std::index_sequence<index...> /*all*/) {
  return std::array{+[](std::size_t /*size*/) -> void* { refuse_uninitialised(guarded_types[index]); }...};
}
constexpr auto refuse_memory_of = refusals(std::make_index_sequence<most_types>());

// Calls pybind11's tp_new; refuses pybind11's base class, because tp_new throws for a type without a C++ class.
PyObject* new_object(PyTypeObject* type, PyObject* args, PyObject* kwargs) noexcept {
  return guarded<PyObject*>(nullptr, [&] {
    return py::detail::all_type_info(type).empty() ? refuse_new(type, args, kwargs)
                                                   : py::detail::pybind11_object_new(type, args, kwargs);
  });
}

PyObject* call_new(PyObject* type, PyObject* /*args*/, PyObject* /*kwargs*/) noexcept {
  return refuse_new(reinterpret_cast<PyTypeObject*>(type), nullptr, nullptr);
}

// Defines `__new__` of a type without a constructor; otherwise the type would inherit the base's `__new__`.
void define_new(PyTypeObject* type) {
  static PyMethodDef definition{"__new__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call_new)),
                                METH_VARARGS | METH_KEYWORDS, "Refused: ConfigError."};
  const auto function = checked(PyCFunction_New(&definition, reinterpret_cast<PyObject*>(type)));
  if (PyDict_SetItemString(type->tp_dict, "__new__", function.ptr()) < 0) throw py::error_already_set();
  type->tp_new = &refuse_new;
  PyType_Modified(type);
}

PyObject* call_type(PyObject* type, PyObject* args, PyObject* kwargs) noexcept {
  PyObject* const made = PyType_Type.tp_call(type, args, kwargs);
  if (made == nullptr || !PyObject_TypeCheck(made, reinterpret_cast<PyTypeObject*>(type))) return made;
  return guarded<PyObject*>(nullptr, [&] {
    auto object = py::reinterpret_steal<py::object>(made);
    for (const auto& each : py::detail::values_and_holders(made)) {
      if (!each.holder_constructed()) refuse_uninitialised(Py_TYPE(made));
    }
    return object.release().ptr();
  });
}

// Returns a type's signature to inspect.signature(), which since Python 3.13 cannot bind an __init__ written in C.
PyObject* signature_of_type(PyObject* type, void* /*closure*/) noexcept {
  return guarded<PyObject*>(nullptr, [&] {
    if (reinterpret_cast<PyTypeObject*>(type)->tp_new == &refuse_new) {
      PyErr_SetString(PyExc_AttributeError, "__signature__");
      throw py::error_already_set();
    }
    const auto inspect = py::module_::import("inspect");
    const auto init = inspect.attr("signature")(py::handle(type).attr("__init__"));
    const py::tuple parameters(init.attr("parameters").attr("values")());
    return init.attr("replace")(py::arg("parameters") = parameters[py::slice(1, std::nullopt, std::nullopt)])
        .release()
        .ptr();
  });
}

}  // namespace

void refuse_uninitialised(PyTypeObject* type) {
  throw Error(ErrorCode::config,
              "this " + name_of(type) + " was never initialised: its __init__ failed or did not run; make a new one");
}

PyObject* refuse_new(PyTypeObject* type, PyObject* /*args*/, PyObject* /*kwargs*/) noexcept {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    throw Error(ErrorCode::config, name_of(type) + " cannot be made by hand: the library makes its objects");
  });
}

void guard_base() { reinterpret_cast<PyTypeObject*>(py::detail::get_internals().instance_base)->tp_new = &new_object; }

void guard_types(py::module_& module, std::size_t first) {
  std::size_t count = 0;
  for (const auto& entry : py::dict(module.attr("__dict__"))) {
    if (!PyType_Check(entry.second.ptr())) continue;
    auto* const type = reinterpret_cast<PyTypeObject*>(entry.second.ptr());
    auto* const info = py::detail::get_type_info(type);
    if (info == nullptr || info->type != type) continue;
    if (count == most_types) throw py::import_error("more types than guard_types() provides for");
    guarded_types[count] = type;
    info->operator_new = refuse_memory_of[count];
    ++count;
    // Each class gets its own object size: Python allows assigning to __class__ if both classes have the same size,
    // and pybind11 would then read the object as the wrong C++ type.
    type->tp_basicsize += static_cast<py::ssize_t>((first + count) * sizeof(void*));
    if (type->tp_init == &py::detail::pybind11_object_init) define_new(type);  // the class has no constructor
  }
}

py::handle guarding_metaclass() {
  static const py::handle made = [] {
    static std::array getset{PyGetSetDef{"__signature__", signature_of_type, nullptr, "Of the constructor.", nullptr},
                             PyGetSetDef{}};
    static std::array slots{PyType_Slot{Py_tp_call, slot(&call_type)}, PyType_Slot{Py_tp_getset, getset.data()},
                            PyType_Slot{0, nullptr}};
    static PyType_Spec spec{"billcore._webhook.Guarded", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots.data()};
    auto* const base = reinterpret_cast<PyObject*>(py::detail::get_internals().default_metaclass);
    return checked(PyType_FromSpecWithBases(&spec, base)).release();
  }();
  return made;
}

namespace detail_ {

py::detail::value_and_holder place_of(PyObject* self, const py::detail::type_info* type) {
  if (PyObject_TypeCheck(self, type->type) == 0) {
    throw py::type_error("this method needs an object of " + name_of(type->type) + ", not of " +
                         name_of(Py_TYPE(self)));
  }
  return reinterpret_cast<py::detail::instance*>(self)->get_value_and_holder(type);
}

void refuse_second_init(PyTypeObject* type) {
  throw Error(ErrorCode::config, "this " + name_of(type) + " is initialised already: make a new one instead");
}

}  // namespace detail_

}  // namespace billcore::python
