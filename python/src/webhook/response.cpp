#include "webhook/response.hpp"

#include <string>

#include "shared/arguments.hpp"
#include "shared/error.hpp"
#include "shared/objects.hpp"

namespace billcore::python {

namespace {

struct Info {
  std::shared_ptr<const ResponseInfo> info;
};

py::dict headers(const Info& self) {
  py::dict out;
  for (const auto& [name, value] : self.info->headers()) {
    const auto key = foreign_text(name);
    const auto text = foreign_text(value);
    out[key] = out.contains(key) ? py::str("{}, {}").format(out[key], text) : text;
  }
  return out;
}

py::object request_id(const Info& self) {
  if (self.info->request_id().empty()) return py::none();
  return foreign_text(self.info->request_id());
}

}  // namespace

void bind_response_info(py::module_& module) {
  auto type =
      py::class_<Info>(module, "ResponseInfo", py::is_final(), "What is known about the answer a result came with.");
  type.attr("__module__") = "billcore";
  refuse_copies(type, "keep its members");
  type.def_property_readonly(
      "status", [](const Info& self) { return self.info->status(); }, "HTTP status.");
  type.def_property_readonly("headers", headers, "dict; names in lower case, values of one name joined by commas.");
  type.def_property_readonly(
      "attempts", [](const Info& self) { return self.info->attempts(); }, "How often the request was sent or tried.");
  type.def_property_readonly("request_id", request_id, "Value of the request id header, or None.");
  type.def("__repr__", [](const Info& self) {
    return py::str("<billcore.ResponseInfo status={} request_id={!r}>").format(self.info->status(), request_id(self));
  });
}

PyObject* make_response_info(const std::shared_ptr<const ResponseInfo>& info) noexcept {
  return guarded<PyObject*>(nullptr, [&] {
    if (info == nullptr) return py::none().release().ptr();
    return py::cast(Info{info}).release().ptr();
  });
}

}  // namespace billcore::python
