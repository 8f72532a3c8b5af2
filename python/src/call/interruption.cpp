#include "call/interruption.hpp"

#include <utility>

#include "shared/error.hpp"
#include "shared/objects.hpp"

namespace billcore::python {
namespace {

thread_local PyObject* kept_exception = nullptr;
thread_local int scopes = 0;

// Raises the exception that keep() stored; returns false if there is none.
bool raise_kept() noexcept {
  auto* const exception = std::exchange(kept_exception, nullptr);
  if (exception == nullptr) return false;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception);
  Py_DECREF(exception);
  return true;
}

// Appends `context` to the chain of the error's contexts (__context__), as Python does.
void set_context(const py::object& error, const py::object& context) {
  auto last = error;
  while (!last.is(context)) {
    auto next = py::reinterpret_steal<py::object>(PyException_GetContext(last.ptr()));
    if (!next) return PyException_SetContext(last.ptr(), py::object(context).release().ptr());
    last = std::move(next);
  }
}

}  // namespace

namespace hook_interrupt {

Scope::Scope() noexcept : had_one_(is_kept()) { ++scopes; }

Scope::~Scope() {
  --scopes;
  if (had_one_ || kept_exception == nullptr) return;
  const py::error_scope kept;
  static_cast<void>(raise_kept());
  py::error_already_set raised;
  report_unraisable(raised);
}

void keep(const py::object& exception) noexcept {
  if (kept_exception == nullptr) kept_exception = Py_NewRef(exception.ptr());
}

Aside::Aside() noexcept : kept_(std::exchange(kept_exception, nullptr)) {}

Aside::~Aside() {
  if (kept_ == nullptr) return;
  Py_XDECREF(std::exchange(kept_exception, kept_));
}

bool is_kept() noexcept { return kept_exception != nullptr; }
bool is_in_scope() noexcept { return scopes > 0; }

}  // namespace hook_interrupt

void report_unraisable(py::error_already_set& error) noexcept {
  if (error.matches(PyExc_KeyboardInterrupt)) {
    PyErr_SetInterrupt();
  } else {
    error.discard_as_unraisable("a hook of billcore");
  }
}

bool interruption_raised() noexcept {
  if (!raise_kept() && PyErr_CheckSignals() == 0) return false;
  // Run the handlers of further signals now, or they would run while the caller handles the first exception. After the
  // last handler, the last exception is set, with the earlier exceptions as its context.
  constexpr int most = 64;  // an upper limit, because a handler may send its own signal again
  for (int count = 0; count < most; ++count) {
    const py::error_already_set first;
    if (PyErr_CheckSignals() == 0) {
      py::error_already_set(first).restore();
      break;
    }
    annotate_error({}, first.value());
  }
  return true;
}

void annotate_error(const std::string& note, const py::object& context) noexcept {
  py::error_already_set raised;
  try {
    if (context) set_context(raised.value(), context);
    if (!note.empty()) raised.value().attr("add_note")(foreign_text(note));
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): on failure, raise the error without the note
  }
  raised.restore();
}

}  // namespace billcore::python
