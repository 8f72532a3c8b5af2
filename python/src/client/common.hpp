// Code shared by Client and AsyncClient.
#pragma once

#include "client/arguments.hpp"
#include "client/client.hpp"
#include "client/groups.hpp"
#include "client/options.hpp"
#include "shared/fast_call.hpp"

namespace billcore::python {

struct SyncClient : BoundClient {};
struct AwaitedClient : BoundClient {};

inline const Signature& init_signature() {
  static const Signature signature(docs::client_init_signature);
  return signature;
}

/// __init__ of Client and AsyncClient.
template <typename Type, auto make_loops>
py::object init_client(PyObject* self, const Call& call) {
  initialise<Type>(self, [&] {
    const auto values = init_signature().bind<arguments::client_option_count>(call);
    return Type{bind_client(values, make_loops())};
  });
  return py::none();
}

template <typename Type>
void bind_common(py::class_<Type>& type) {
  for (const auto& group : client_groups) {
    type.def_property_readonly(
        group.name, [make = group.make](const Type& self) { return make(self); }, group.doc);
  }

  static const Signature own_request(docs::client_request_signature);
  type.def(
      "request",
      [](const Type& self, const py::args& args, const py::kwargs& kwargs) {
        return request(self, own_request.bind(args, kwargs));
      },
      own_request.doc(docs::client_request).c_str());

  static const Signature changed(docs::client_with_options_signature);
  type.def(
      "with_options",
      [](const Type& self, const py::args& args, const py::kwargs& kwargs) {
        return Type{changed_sender(self, changed.bind(args, kwargs))};
      },
      changed.doc(docs::client_with_options).c_str());
  const std::string name = py::str(type.attr("__name__"));
  type.def("__repr__", [name](const py::object& self) {
    return "<billcore." + name + (held_or_null<Type>(self.ptr()) == nullptr ? ", never initialised>" : ">");
  });
  refuse_copies(type, "it holds an API key; make one where it is needed");
}

}  // namespace billcore::python
