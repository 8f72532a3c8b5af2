// What Client and AsyncClient have in common.
#pragma once

#include "client/client.hpp"
#include "client/options.hpp"
#include "shared/fast_call.hpp"

namespace billcore::python {

struct SyncClient : Sender {};
struct AwaitedClient : Sender {};

inline const Signature& init_signature() {
  static const Signature signature("__init__(self, " BILLCORE_CLIENT_PARAMETERS);
  return signature;
}

/// __init__ of both.
template <typename Type, auto make_waiter>
py::object init_client(PyObject* self, const Call& call) {
  initialise<Type>(self, [&] {
    const auto values = init_signature().bind<14>(call);
    return Type{make_sender({values.begin(), values.end()}, make_waiter())};
  });
  return py::none();
}

template <typename Type>
void bind_common(py::class_<Type>& type) {
  type.def_property_readonly(
      "subscriptions", [](const Type& self) { return make_subscriptions(self); }, "Operations on subscriptions.");
  type.def_property_readonly(
      "products", [](const Type& self) { return make_products(self); }, "Operations on products.");
  type.def_property_readonly(
      "orders", [](const Type& self) { return make_orders(self); }, "Operations on orders.");
  type.def_property_readonly(
      "webhook_endpoints", [](const Type& self) { return make_webhook_endpoints(self); },
      "Operations on webhook endpoints.");

  static const Signature own_request("request(self, " BILLCORE_REQUEST_PARAMETERS);
  type.def(
      "request",
      [](const Type& self, const py::args& args, const py::kwargs& kwargs) {
        return request(self, own_request.bind(args, kwargs));
      },
      own_request
          .doc(R"(A request of your own; everything but GET is a write, sent at most once.

method: GET, POST, PUT, PATCH or DELETE. path: below the base URL, begins with a slash, percent-encoded.
query: mapping or pairs; leave out what is not to be sent. json: the body; None is null. raise_on_error: False gives
back every complete answer.)")
          .c_str());

  static const Signature changed("with_options(self, " BILLCORE_CHANGE_PARAMETERS);
  type.def(
      "with_options",
      [](const Type& self, const py::args& args, const py::kwargs& kwargs) {
        return Type{changed_sender(self, changed.bind(args, kwargs))};
      },
      changed
          .doc("A client that differs in these options and shares everything else, connections included.\n\n"
               "headers: instead of all that were given. Closing it leaves the connections to the first one.")
          .c_str());
  const std::string name = py::str(type.attr("__name__"));
  type.def("__repr__", [name](const py::object& self) {
    return "<billcore." + name + (held_or_null<Type>(self.ptr()) == nullptr ? ", never initialised>" : ">");
  });
  refuse_copies(type, "it holds an API key; make one where it is needed");
}

}  // namespace billcore::python
