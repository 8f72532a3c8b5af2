#include "call/hooks.hpp"

#include <string>

#include "call/interruption.hpp"
#include "shared/arguments.hpp"
#include "shared/error.hpp"
#include "shared/interpreter.hpp"
#include "shared/objects.hpp"
#include "shared/time.hpp"

namespace billcore::python {
namespace {

// billcore logs nothing until the program itself has imported `logging`.
bool is_logging_loaded() { return PyDict_GetItemString(PyImport_GetModuleDict(), "logging") != nullptr; }

// Is the logger `billcore` enabled for INFO?
bool is_logged() {
  static constinit CachedImport is_enabled;
  if (!is_enabled.is_known() && !is_logging_loaded()) return false;
  const auto function = is_enabled.get(
      [] { return py::object(py::module_::import("logging").attr("getLogger")("billcore").attr("isEnabledFor")); });
  constexpr int info = 20;
  return function(info).is(py::handle(Py_True));
}

bool ends_call(const py::error_already_set& error) {
  if (!error.matches(PyExc_Exception)) return true;
  try {
    return py::module_::import("billcore._hooks").attr("is_of_signal")(error.value()).cast<bool>();
  } catch (const py::error_already_set&) {
    return false;
  }
}

// Returns billcore._hooks.tell. The constructor of HooksOption calls tell_function(), so that the import is done before
// a finalizing interpreter would refuse it.
py::handle tell_function() {
  static constinit CachedImport found;
  return found.get([] { return py::object(py::module_::import("billcore._hooks").attr("tell")); });
}

py::handle warn_function() {
  static constinit CachedImport found;
  return found.get([] { return py::object(py::module_::import("billcore._hooks").attr("warn")); });
}

// Returns the name of the exception class for an attempt's failure. For an interrupted attempt, class_of_failure()
// reads the signal handler's exception, which the caller must not have cleared.
const char* class_of_failure(ErrorCode failure) {
  if (failure != ErrorCode::interrupted) return class_of(failure);
  const bool is_ctrl_c = PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0;
  return is_ctrl_c ? "KeyboardInterrupt" : "CancelledError";
}

// Handles an exception that a hook or logging raised. `in_call` says whether the hook runs inside a blocking call.
void report(py::error_already_set& error, bool in_call) {
  // An error that is not an Exception, or that a signal handler raised, must end the call, not only the hook.
  if (in_call && ends_call(error)) {
    hook_interrupt::keep(error.value());
  } else {
    report_unraisable(error);
  }
}

/// Logs each write that was abandoned after it was sent, and whose outcome is therefore unknown. All clients share one
/// GivenUpLog.
class GivenUpLog final : public Hooks {
 public:
  [[nodiscard]] bool every_attempt() const noexcept override { return false; }
  void on_response(const Attempt& attempt) override {
    if (is_finalizing()) return;
    const Gil gil;
    const py::error_scope kept;
    try {
      if (!is_logging_loaded()) return;
      const hook_interrupt::Aside aside;
      warn_function()(foreign_text(attempt.method), foreign_text(attempt.route), foreign_text(attempt.path),
                      attempt.number, text_or_none(attempt.request_id));
    } catch (py::error_already_set& error) {
      report(error, hook_interrupt::is_in_scope());
    }
  }
};

/// Forwards the core's hooks to billcore._hooks.tell(), which calls the user's hooks and logs.
class PythonHooks final : public Hooks {
 public:
  PythonHooks(py::object target, py::object context) : target_(std::move(target)), context_(std::move(context)) {}
  // drop() takes the GIL: a call that ends without the GIL may hold the last reference to these hooks.
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
    const char* const failure = class_of_failure(attempt.failure);
    // A signal handler's exception may already be set: keep it.
    const py::error_scope kept;
    try {
      const auto function = tell_function();
      const auto seconds = [](auto length) { return std::chrono::duration<double>(length).count(); };
      const py::object status = attempt.status == 0 ? py::object(py::none()) : py::int_(attempt.status);
      const py::object error = attempt.failure == ErrorCode::ok ? py::object(py::none()) : string(failure);
      const auto arguments =
          py::make_tuple(target_, hook, foreign_text(attempt.method), foreign_text(attempt.route), attempt.number,
                         status, error, seconds(attempt.duration), text_or_none(attempt.request_id),
                         seconds(attempt.wait), attempt.sent, attempt.outcome_unknown, text_or_none(attempt.path));
      const hook_interrupt::Aside aside;
      if (context_.is_none()) {
        function(*arguments);
      } else {
        context_.attr("run")(function, *arguments);
      }
    } catch (py::error_already_set& error) {
      report(error, context_.is_none());
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

std::shared_ptr<Hooks> given_up_log() {
  static const auto log = std::make_shared<GivenUpLog>();
  return log;
}

void need_given_up_log() { static_cast<void>(warn_function()); }

void prepare_for_gevent() {
  if (PyDict_GetItemString(PyImport_GetModuleDict(), "gevent.monkey") == nullptr) return;
  need_datetime();
  need_given_up_log();
  py::module_::import("decimal");
  py::module_::import("billcore._hooks").attr("_logger")();
  static_cast<void>(is_logged());
}

void log_lost(const LostResult& result) noexcept {
  const py::error_scope kept;
  try {
    if (!is_logging_loaded()) return;
    const auto subject = result.method + ' ' + result.path + ": ";
    const auto outcome =
        std::string_view(result.outcome).substr(result.outcome.starts_with(subject) ? subject.size() : 0);
    warn_function()(foreign_text(result.method), result.route.empty() ? "(other)" : result.route,
                    foreign_text(result.path), result.attempts, text_or_none(result.request_id), foreign_text(outcome));
  } catch (py::error_already_set& error) {
    report_unraisable(error);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): out of memory, cannot be logged
  }
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
