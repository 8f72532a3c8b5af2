// Signals whose Python handlers have not run when a call ends, and exceptions that hooks raise to end a call.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>

#include "billcore/error.hpp"

namespace billcore::python {

namespace py = pybind11;

/// The exception that a hook raised to end the blocking call that runs it, such as KeyboardInterrupt. One per thread.
namespace hook_interrupt {
/// Keeps the exception until interruption_raised(); further exceptions are dropped until then. Requires the GIL.
void keep(const py::object& exception) noexcept;
[[nodiscard]] bool is_kept() noexcept;
/// Is this thread in a Scope?
[[nodiscard]] bool is_in_scope() noexcept;

/// The destructor reports an exception that was kept in this scope and that no call has raised: for KeyboardInterrupt
/// it sets the signal again, and it passes other exceptions to sys.unraisablehook.
class Scope {
 public:
  Scope() noexcept;
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  bool had_one_;
};
}  // namespace hook_interrupt

/// Reports an exception that no call can raise, as Scope does. Requires the GIL.
void report_unraisable(py::error_already_set& error) noexcept;

/// Runs pending signal handlers, in the thread where Python handles signals, and checks for an exception kept by a
/// hook. Returns true, with the Python error set, if a handler or a hook raised an exception. Requires the GIL and no
/// Python error set.
[[nodiscard]] bool interruption_raised() noexcept;

/// Adds `note`, unless empty, to the Python error that is set, and `context`, the previous error, as its context.
void annotate_error(const std::string& note, const py::object& context = {}) noexcept;

}  // namespace billcore::python
