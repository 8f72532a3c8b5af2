#include "call/bound_client.hpp"

#include <cstring>
#include <optional>
#include <string>

#include "billcore/detail/outcome.hpp"
#include "billcore/error.hpp"
#include "billcore/internal.hpp"
#include "call/interruption.hpp"
#include "call/job.hpp"
#include "shared/error.hpp"
#include "shared/objects.hpp"
#include "shared/time.hpp"

namespace billcore::python {
namespace {

const Bridge* the_bridge = nullptr;
// The name of an attribute that all errors of billcore have. Python's cache of attributes keeps up to 4,096 names that
// are not the same object, so all calls use this one.
PyObject* outcome_unknown_name = nullptr;

}  // namespace

void find_bridge() {
  py::module_::import("billcore._webhook");
  const auto* found = static_cast<const Bridge*>(PyCapsule_Import(bridge_name, 0));
  if (found == nullptr) throw py::error_already_set();
  if (std::strcmp(found->build_id, BILLCORE_BUILD_ID) != 0) {
    throw py::import_error("billcore._client and billcore._webhook are of different builds (" BILLCORE_BUILD_ID ", " +
                           std::string(found->build_id) + "): reinstall billcore");
  }
  outcome_unknown_name = checked(PyUnicode_InternFromString("outcome_unknown")).release().ptr();
  the_bridge = found;
}

const Bridge& bridge() noexcept { return *the_bridge; }

void set_error(const Error& error) noexcept { bridge().set_error(error); }

namespace {

// Raises `error` as a Python exception.
[[noreturn]] void raise_for(const Error& error) {
  set_error(error);
  throw py::error_already_set();
}

// Sends the job's operations and waits for each.
void send(const BoundClient& bound, Job& job) {
  while (const auto operation = job.next()) {
    job.set_hooks(bound.hooks.for_call(false));
    without_gil([&] {
      internal::send(bound.client, *operation, job.options(), [&job](Completed& completed) { job.take(completed); });
    });
  }
}

// Logs a write that had already finished when a signal handler or a hook interrupted its call. The core has reported
// the end of the write to the hooks, but not the loss of its result.
void log_lost(const Job& job, const std::exception_ptr& error) noexcept try {
  if (const auto result = job.lost(error)) python::log_lost(*result);
} catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): out of memory, cannot be logged
}

// Runs pending signal handlers while the call still holds its result. If a handler raised only after the call had
// returned, Python would silently discard the result.
py::object finish(Job& job, py::object result) {
  job.release();
  if (!interruption_raised()) return result;
  annotate_error(job.outcome());
  log_lost(job, nullptr);
  job.take_back();
  throw py::error_already_set();
}

// Raises the exception that interrupted the call. If a hook's on_response() raised as well, raises the hook's
// exception, with the exception that interrupted the call as its context.
[[noreturn]] void raise_interrupted(const Error& error) {
  if (hook_interrupt::is_kept()) {
    std::optional<py::error_already_set> first;
    if (PyErr_Occurred() != nullptr) first.emplace();
    if (interruption_raised() && first) annotate_error({}, first->value());
  }
  raise_for(error);
}

// Like finish(), for a call that failed: if a signal handler raises, its exception gets the call's error as its
// context. Checks for signals before creating the call's error: Python code creates the error, and a signal handler
// that runs inside that code could raise.
[[noreturn]] void fail(Job& job, const Error& error) {
  job.release();
  job.take_back();
  if (error.code() == ErrorCode::interrupted) {
    const bool had_ended = error.detail().http_status != 0 || error.detail().cause != ErrorCode::ok;
    if (had_ended) log_lost(job, std::current_exception());
    raise_interrupted(error);
  }
  std::optional<py::error_already_set> interruption;
  if (interruption_raised()) {
    interruption.emplace();
    log_lost(job, std::current_exception());
  }
  const auto note = job.is_write() ? detail::interrupted_after_error(error) : std::string();
  try {
    raise_for(error);
  } catch (py::error_already_set& raised) {
    if (interruption) {
      interruption->restore();
      annotate_error(note, raised.value());
    } else {
      const bool is_own = PyObject_HasAttr(raised.value().ptr(), outcome_unknown_name) != 0;
      raised.restore();
      if (!is_own) annotate_error(note);  // a signal handler raised `raised` while Python created the call's error
    }
  }
  throw py::error_already_set();
}

}  // namespace

py::object block(const BoundClient& bound, Job& job) {
  const hook_interrupt::Scope scope;
  try {
    // Import now the modules that the error of a write needs: later, a signal handler could interrupt the import.
    if (job.is_write()) {
      need_datetime();
      need_given_up_log();
    }
    send(bound, job);
    return finish(job, job.result());
  } catch (const Error& error) {
    fail(job, error);
  } catch (const py::error_already_set&) {  // the iteration ended or was interrupted
    job.take_back();
    throw;
  }
}

}  // namespace billcore::python
