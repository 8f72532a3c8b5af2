#include "call/response.hpp"

#include <string>
#include <utility>

#include "call/sender.hpp"
#include "shared/uninitialised.hpp"

namespace billcore::python {
namespace {

struct PyResponse {
  Response response;
};

}  // namespace

void bind_response(py::module_& module) {
  auto type = py::class_<PyResponse>(module, "Response", py::is_final(),
                                     "An answer as it came, where the interface does not say what it holds.");
  type.attr("__module__") = "billcore";
  refuse_copies(type, "keep its status, headers and body");
  type.def_property_readonly(
      "status", [](const PyResponse& self) { return self.response.status(); }, "HTTP status.");
  const auto info = [](const PyResponse& self) { return response_info(self.response.response_info()); };
  type.def_property_readonly(
      "headers", [info](const PyResponse& self) { return py::object(info(self).attr("headers")); },
      "dict; names in lower case, values of one name joined by commas.");
  type.def_property_readonly(
      "body", [](const PyResponse& self) { return py::bytes(self.response.body()); }, "The body as received, bytes.");
  type.def_property_readonly("response_info", info, "Status, headers, attempts and request id.");
  static const Signature json("json(self)");
  type.def(
      "json",
      [](const PyResponse& self) {
        auto* out = bridge().make_plain(self.response.json());
        if (out == nullptr) throw py::error_already_set();
        return py::reinterpret_steal<py::object>(out);
      },
      json.doc("The body as plain JSON values; DecodeError when it is no JSON.").c_str());
  type.def("__repr__", [](const PyResponse& self) {
    return "<billcore.Response status=" + std::to_string(self.response.status()) + '>';
  });
}

py::object make_response(Response response) { return py::cast(PyResponse{std::move(response)}); }

}  // namespace billcore::python
