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
/// Keeps the exception until interruption_raised(); others are dropped meanwhile. Requires the GIL.
void keep(const py::object& exception) noexcept;
[[nodiscard]] bool is_kept() noexcept;
}  // namespace hook_interrupt

/// Runs pending signal handlers, in the thread where Python handles signals, and checks for an exception kept by a
/// hook. True if either raised: the Python error is set. Requires the GIL and no Python error set.
[[nodiscard]] bool interruption_raised() noexcept;

/// Adds `note`, unless empty, to the Python error that is set, and `context`, the previous error, as its context.
void annotate_error(const std::string& note, const py::object& context = {}) noexcept;

}  // namespace billcore::python
