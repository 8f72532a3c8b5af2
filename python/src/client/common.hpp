// Code shared by Client and AsyncClient.
#pragma once

#include <type_traits>

#include "billcore/internal.hpp"
#include "client/arguments.hpp"
#include "client/client.hpp"
#include "client/groups.hpp"
#include "client/options.hpp"
#include "shared/classes.hpp"
#include "shared/fast_call.hpp"

namespace billcore::python {

struct SyncClient : BoundClient {};
struct AwaitedClient : BoundClient {};

template <typename Type>
const Signature& init_signature() {
  static const Signature signature(docs::client_init_signature,
                                   std::is_same_v<Type, AwaitedClient> ? "AsyncClient" : "Client");
  return signature;
}

/// Returns an option's value as repr() of a client shows it: only None and numbers, because other values, such as
/// headers, may hold secrets.
inline std::string shown_option(py::handle value) {
  return value.is_none() || PyNumber_Check(value.ptr()) != 0 ? std::string(py::repr(value)) : "...";
}

/// Implements __init__ of Client and AsyncClient.
template <typename Type, auto make_loops>
py::object init_client(PyObject* self, const Call& call) {
  initialise<Type>(self, [&] {
    const auto values = init_signature<Type>().template bind<arguments::client_option_count>(call);
    return Type{bind_client(values, make_loops())};
  });
  return py::none();
}

template <typename Type>
void bind_common(py::class_<Type>& type) {
  for (const auto& group : client_groups()) {
    type.def_property_readonly(
        group.name, [make = group.make](const Type& self) { return make(self); }, group.doc);
  }
  type.def_property_readonly(
      "base_url", [](const Type& self) { return internal::base_url(self.client); },
      "URL of the service; its path ends with the account's segment.");

  def<docs::client_request_signature>(type, docs::client_request, [](const Type& self, const Call& call) {
    return request(self, parsed<docs::client_request_signature>().bind(call));
  });
  const auto with_options = [](const Type& self, const Call& call) {
    const auto& signature = parsed<docs::client_with_options_signature>();
    const auto values = signature.bind(call);
    Type out{changed_sender(self, values)};
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!left_out(values[i])) out.changed[signature.parameter(i)] = shown_option(values[i]);
    }
    return out;
  };
  def<docs::client_with_options_signature>(type, docs::client_with_options, with_options);
  const std::string name = py::str(type.attr("__name__"));
  type.def("__repr__", [name](const py::object& self) {
    const auto* const own = held_or_null<Type>(self.ptr());
    if (own == nullptr) return '<' + name + ", never initialised>";
    std::string out = '<' + name + ' ' + internal::base_url(own->client);
    for (const auto& [option, value] : own->changed) out.append(", ").append(option).append("=").append(value);
    return out + '>';
  });
  refuse_copies(type, "it holds an API key; make one where it is needed");
}

}  // namespace billcore::python
