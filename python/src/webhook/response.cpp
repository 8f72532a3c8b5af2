#include "webhook/response.hpp"

#include <string>

#include "shared/classes.hpp"
#include "shared/error.hpp"
#include "shared/objects.hpp"
#include "shared/webhook_docs.hpp"

namespace billcore::python {

namespace {

struct Info {
  std::shared_ptr<const ResponseInfo> info;
};

py::dict headers(const Info& self) {
  py::dict out;
  for (const auto& [name, value] : self.info->headers()) add_header(out, name, value);
  return out;
}

py::object request_id(const Info& self) { return text_or_none(self.info->request_id()); }

}  // namespace

void add_header(py::dict& headers, const std::string& name, const std::string& value) {
  const auto key = foreign_text(name);
  const auto text = foreign_text(value);
  headers[key] = headers.contains(key) ? py::str("{}, {}").format(headers[key], text) : text;
}

void bind_response_info(py::module_& module) {
  auto type = final_class<Info>(module, "ResponseInfo", docs::about_response_info, "keep its members");
  type.def_property_readonly(
      "status", [](const Info& self) { return self.info->status(); }, docs::response_info_status);
  type.def_property_readonly("headers", headers, docs::response_info_headers);
  type.def_property_readonly(
      "attempts", [](const Info& self) { return self.info->attempts(); }, docs::response_info_attempts);
  type.def_property_readonly(
      "sent_late", [](const Info& self) { return self.info->sent_late(); }, docs::response_info_sent_late);
  type.def_property_readonly("request_id", request_id, docs::response_info_request_id);
  type.def("__repr__", [](const Info& self) {
    return py::str("<ResponseInfo status={} request_id={!r}>").format(self.info->status(), request_id(self));
  });
}

PyObject* make_response_info(const std::shared_ptr<const ResponseInfo>& info) noexcept {
  return guarded<PyObject*>(nullptr, [&] {
    if (info == nullptr) return py::none().release().ptr();
    return py::cast(Info{info}).release().ptr();
  });
}

}  // namespace billcore::python
