#include "shared/fast_call.hpp"

#include <deque>
#include <string>

#include "shared/objects.hpp"

namespace billcore::python {
namespace {

struct Definition {
  std::string doc;
  PyMethodDef method;
};

// Creates a PyMethodDef that is never freed, because Python refers to it until the process ends.
PyMethodDef* define(const Signature& signature, FastCall function, std::string doc) {
  static std::deque<Definition> all;
  auto& made = all.emplace_back(Definition{std::move(doc), {}});
  made.method = {signature.name(), reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)),
                 METH_FASTCALL | METH_KEYWORDS, made.doc.c_str()};
  return &made.method;
}

}  // namespace

void def_method(py::handle type, const Signature& signature, FastCall function, const char* doc) {
  auto* definition = define(signature, function, signature.method_doc(doc));
  type.attr(signature.name()) = checked(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type.ptr()), definition));
}

void def_static_method(py::handle type, const Signature& signature, FastCall function, const char* doc) {
  auto* definition = define(signature, function, signature.doc(doc));
  const auto made = checked(PyCFunction_New(definition, nullptr));
  type.attr(signature.name()) = checked(PyStaticMethod_New(made.ptr()));
}

void def_function(py::module_& module, const Signature& signature, FastCall function, const char* doc,
                  const char* module_name) {
  auto* definition = define(signature, function, signature.doc(doc));
  module.attr(signature.name()) = checked(PyCFunction_NewEx(definition, nullptr, py::str(module_name).ptr()));
}

}  // namespace billcore::python
