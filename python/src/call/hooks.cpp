#include "call/hooks.hpp"

#include <string>

#include "call/interruption.hpp"
#include "shared/arguments.hpp"
#include "shared/error.hpp"
#include "shared/interpreter.hpp"
#include "shared/objects.hpp"

namespace billcore::python {
namespace {

// Is the logger `billcore` enabled? If the module `logging` is not loaded, nothing logs, and it is not imported for
// this.
bool is_logged() {
  static constinit Found is_enabled;
  if (!is_enabled.is_known() && PyDict_GetItemString(PyImport_GetModuleDict(), "logging") == nullptr) return false;
  const auto function = is_enabled.get(
      [] { return py::object(py::module_::import("logging").attr("getLogger")("billcore").attr("isEnabledFor")); });
  constexpr int info = 20;
  return function(info).is(py::handle(Py_True));
}

const char* class_of(ErrorCode code) noexcept {
  for (const auto& row : error_code_table) {
    if (row.code == code) return row.python_class;
  }
  return "BillcoreError";
}

bool ends_call(const py::error_already_set& error) {
  if (!error.matches(PyExc_Exception)) return true;
  try {
    return py::module_::import("billcore._hooks").attr("is_of_signal")(error.value()).cast<bool>();
  } catch (const py::error_already_set&) {
    return false;
  }
}

// Looked up before a call needs it, since a finalizing interpreter refuses imports.
py::handle tell_function() {
  static constinit Found found;
  return found.get([] { return py::object(py::module_::import("billcore._hooks").attr("tell")); });
}

/// Forwards everything to billcore._hooks.tell(), which handles the user's hooks and logging.
class PythonHooks final : public Hooks {
 public:
  PythonHooks(py::object target, py::object context) : target_(std::move(target)), context_(std::move(context)) {}
  // A call that ends without the GIL may hold the last reference.
  ~PythonHooks() override { drop(target_, context_); }
  PythonHooks(const PythonHooks&) = delete;
  PythonHooks& operator=(const PythonHooks&) = delete;

  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(target_.ptr());
    Py_VISIT(context_.ptr());
    return 0;
  }

  void on_request(const Attempt& attempt) override { tell("on_request", attempt); }
  void on_response(const Attempt& attempt) override { tell("on_response", attempt); }
  void on_retry(const Attempt& attempt) override { tell("on_retry", attempt); }

 private:
  void tell(const char* hook, const Attempt& attempt) {
    if (is_finalizing()) return;  // the modules that the hooks need may already be cleared
    const Gil gil;
    // A signal handler's exception may already be set: keep it.
    const py::error_scope kept;
    try {
      const auto function = tell_function();
      const auto seconds = [](auto length) { return std::chrono::duration<double>(length).count(); };
      const py::object status = attempt.status == 0 ? py::object(py::none()) : py::int_(attempt.status);
      const py::object error =
          attempt.failure == ErrorCode::ok ? py::object(py::none()) : string(class_of(attempt.failure));
      const py::object id =
          attempt.request_id.empty() ? py::object(py::none()) : py::object(foreign_text(attempt.request_id));
      const auto arguments =
          py::make_tuple(target_, hook, foreign_text(attempt.method), foreign_text(attempt.route), attempt.number,
                         status, error, seconds(attempt.duration), id, seconds(attempt.wait));
      if (context_.is_none()) {
        function(*arguments);
      } else {
        context_.attr("run")(function, *arguments);
      }
    } catch (py::error_already_set& error) {
      // Anything except an Exception, and whatever a signal handler raised, must end the call, not only the hook.
      if (context_.is_none() && ends_call(error)) {
        hook_interrupt::keep(error.value());
      } else if (error.matches(PyExc_KeyboardInterrupt)) {
        PyErr_SetInterrupt();
      } else {
        error.discard_as_unraisable("a hook of billcore");
      }
    }
  }

  py::object target_;
  py::object context_;
};

}  // namespace

HooksOption::HooksOption(py::object target) : target_(std::move(target)) {
  if (target_.is_none()) return;
  for (const char* name : {"on_request", "on_response", "on_retry"}) {
    if (PyObject_HasAttrString(target_.ptr(), name) != 0) {
      static_cast<void>(tell_function());
      return;
    }
  }
  refuse("hooks must have at least one of on_request, on_response and on_retry; " + type_name(target_) + " has none");
}

int HooksOption::traverse(visitproc visit, void* arg) const {
  Py_VISIT(target_.ptr());
  return 0;
}

int traverse_hooks(const std::shared_ptr<Hooks>& hooks, visitproc visit, void* arg) {
  return hooks == nullptr ? 0 : static_cast<const PythonHooks&>(*hooks).traverse(visit, arg);
}

std::shared_ptr<Hooks> HooksOption::for_call(bool in_context) const {
  if (target_.is_none() && !is_logged()) return nullptr;
  auto context = in_context ? checked(PyContext_CopyCurrent()) : py::object(py::none());
  return std::make_shared<PythonHooks>(target_, std::move(context));
}

}  // namespace billcore::python
