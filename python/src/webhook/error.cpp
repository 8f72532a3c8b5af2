#include "shared/error.hpp"

#include <string>

#include "shared/interpreter.hpp"
#include "shared/objects.hpp"
#include "shared/time.hpp"
#include "webhook/model.hpp"
#include "webhook/response.hpp"

namespace billcore::python {

namespace {

py::dict details(ErrorCode code, const ErrorDetail& detail) {
  py::dict out;
  out["status"] = detail.http_status;
  if (code == ErrorCode::signature) {  // only details that are fast to make: an attacker may send many forgeries
    out["reason"] = to_string(detail.reason);
    return out;
  }
  out["code"] = text_or_none(detail.api_code);
  out["message"] = text_or_none(detail.api_message);
  out["request_id"] = text_or_none(detail.request_id);
  out["body"] = foreign_text(detail.body);
  out["retry_after"] = detail.retry_after ? py::object(py::float_(*detail.retry_after)) : py::object(py::none());
  out["attempts"] = detail.attempts;
  out["outcome_unknown"] = detail.outcome_unknown;
  out["sent_late"] = detail.sent_late;
  py::dict headers;
  for (const auto& [name, value] : detail.headers) add_header(headers, name, value);
  out["headers"] = headers;
  out["method"] = foreign_text(detail.method);
  out["path"] = foreign_text(detail.path);
  if (!detail.field_path.empty()) out["field_path"] = foreign_text(detail.field_path);
  if (detail.attempted_at) out["attempted_at"] = to_datetime(*detail.attempted_at, 0);
  if (detail.service_time) out["service_time"] = to_datetime(*detail.service_time, 0);
  if (detail.cause != ErrorCode::ok) {
    out["cause_class"] = class_of(detail.cause);
    out["cause_text"] = foreign_text(detail.cause_message);
  }
  if (detail.found != nullptr) {
    py::list found;
    for (const auto& order : *detail.found) found.append(checked(make_view(View::order, order)));
    out["found"] = found;
  }
  return out;
}

// Adds a note about the interrupted write to the Python exception that is set: the signal handler's exception, or
// KeyboardInterrupt if the handler raised none.
void set_interrupted(const Error& error) {
  if (PyErr_Occurred() == nullptr) PyErr_SetNone(PyExc_KeyboardInterrupt);
  py::error_already_set raised;
  const auto& detail = error.detail();
  const bool is_write = !detail.method.empty() && detail.method != "GET";
  // A write that was never sent needs no note.
  if (is_write && (detail.outcome_unknown || detail.http_status != 0))
    raised.value().attr("add_note")(foreign_text(error.message()));
  raised.restore();
}

py::handle from_core() {
  static constinit CachedImport found;
  return found.get([] { return py::object(py::module_::import("billcore._errors").attr("from_core")); });
}

}  // namespace

void find_errors() { static_cast<void>(from_core()); }

void set_error(const Error& error) noexcept {
  guarded(0, [&] {
    if (error.code() == ErrorCode::out_of_memory) throw std::bad_alloc();
    if (error.code() == ErrorCode::interrupted) {
      set_interrupted(error);
      return 0;
    }
    const auto made =
        from_core()(class_of(error.code()), foreign_text(error.message()), details(error.code(), error.detail()));
    PyErr_SetObject(py::type::handle_of(made).ptr(), made.ptr());
    return 0;
  });
}

}  // namespace billcore::python
