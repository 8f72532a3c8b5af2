// Handles signals whose Python handlers have not run when a call ends, and exceptions that hooks raise to end a call.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>

#include "billcore/error.hpp"

namespace billcore::python {

namespace py = pybind11;

/// Keeps the exception that a hook raised to end the blocking call that runs the hook, such as KeyboardInterrupt.
/// Each thread keeps at most one exception.
namespace hook_interrupt {
/// Keeps the exception until interruption_raised() raises it; ignores further exceptions until then. Requires the
/// GIL.
void keep(const py::object& exception) noexcept;
[[nodiscard]] bool is_kept() noexcept;
/// Does this thread have a Scope, as during a blocking call?
[[nodiscard]] bool is_in_scope() noexcept;

/// The destructor of Scope reports an exception that a hook kept in this scope and that no call has raised. For
/// KeyboardInterrupt the destructor sets the signal SIGINT again; it passes other exceptions to sys.unraisablehook.
class Scope {
 public:
  Scope() noexcept;
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  bool had_one_;
};

/// Sets a kept exception aside while Python code runs: the code may switch to another greenlet, whose call must not end
/// with this call's exception.
class Aside {
 public:
  Aside() noexcept;
  ~Aside();
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

 private:
  PyObject* kept_;
};
}  // namespace hook_interrupt

/// Reports an exception that no call can raise: sets SIGINT again for KeyboardInterrupt, and passes other exceptions
/// to sys.unraisablehook. Requires the GIL.
void report_unraisable(py::error_already_set& error) noexcept;

/// Raises the exception that a hook kept, and runs pending signal handlers (on the main thread only). Returns true,
/// with the Python error set, if a hook or a handler raised. The caller must hold the GIL, and no Python error may be
/// set.
[[nodiscard]] bool interruption_raised() noexcept;

/// Changes the Python error that is set: adds `note` unless it is empty, and `context`, an earlier error, as its
/// context.
void annotate_error(const std::string& note, const py::object& context = {}) noexcept;

}  // namespace billcore::python
