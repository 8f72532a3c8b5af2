#include "call/response.hpp"

#include <string>
#include <utility>

#include "call/bound_client.hpp"
#include "shared/client_docs.hpp"
#include "shared/uninitialised.hpp"

namespace billcore::python {
namespace {

struct PyResponse {
  Response response;
};

}  // namespace

void bind_response(py::module_& module) {
  auto type = py::class_<PyResponse>(module, "Response", py::is_final(), docs::about_response);
  type.attr("__module__") = "billcore";
  refuse_copies(type, "keep its status, headers and body");
  type.def_property_readonly(
      "status", [](const PyResponse& self) { return self.response.status(); }, docs::response_status);
  const auto info = [](const PyResponse& self) { return response_info(self.response.response_info()); };
  type.def_property_readonly(
      "headers", [info](const PyResponse& self) { return py::object(info(self).attr("headers")); },
      docs::response_headers);
  type.def_property_readonly(
      "body", [](const PyResponse& self) { return py::bytes(self.response.body()); }, docs::response_body);
  type.def_property_readonly("response_info", info, docs::response_response_info);
  static const Signature json(docs::response_json_signature);
  type.def(
      "json",
      [](const PyResponse& self) {
        auto* out = bridge().make_plain(self.response.json());
        if (out == nullptr) throw py::error_already_set();
        return py::reinterpret_steal<py::object>(out);
      },
      json.doc(docs::response_json).c_str());
  type.def("__repr__",
           [](const PyResponse& self) { return "<Response status=" + std::to_string(self.response.status()) + '>'; });
}

py::object make_response(Response response) { return py::cast(PyResponse{std::move(response)}); }

}  // namespace billcore::python
