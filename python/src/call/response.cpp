#include "call/response.hpp"

#include <string>
#include <utility>

#include "call/bound_client.hpp"
#include "shared/classes.hpp"
#include "shared/client_docs.hpp"
#include "shared/fast_call.hpp"
#include "shared/objects.hpp"

namespace billcore::python {
namespace {

struct PyResponse {
  Response response;
};

}  // namespace

void bind_response(py::module_& module) {
  auto type = final_class<PyResponse>(module, "Response", docs::about_response, "keep its status, headers and body");
  type.def_property_readonly(
      "status", [](const PyResponse& self) { return self.response.status(); }, docs::response_status);
  const auto info = [](const PyResponse& self) { return response_info(self.response.response_info()); };
  type.def_property_readonly(
      "headers", [info](const PyResponse& self) { return py::object(info(self).attr("headers")); },
      docs::response_headers);
  type.def_property_readonly(
      "body", [](const PyResponse& self) { return py::bytes(self.response.body()); }, docs::response_body);
  type.def_property_readonly("response_info", info, docs::response_response_info);
  def<docs::response_json_signature>(type, docs::response_json, [](const PyResponse& self) {
    return checked(bridge().make_plain(self.response.json()));
  });
  type.def("__repr__",
           [](const PyResponse& self) { return "<Response status=" + std::to_string(self.response.status()) + '>'; });
}

py::object make_response(Response response) { return py::cast(PyResponse{std::move(response)}); }

}  // namespace billcore::python
