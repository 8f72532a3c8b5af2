// Signals whose Python handlers have not run when a call ends, and what hooks raise in place of them.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>

#include "billcore/error.hpp"

namespace billcore::python {

namespace py = pybind11;

/// What a hook raised to end the blocking call that runs it, such as KeyboardInterrupt. Of this thread, one at a time.
namespace hook_interrupt {
/// Keeps it until raise(); a later one is dropped while one is kept. With the GIL.
void keep(const py::object& exception) noexcept;
[[nodiscard]] bool is_kept() noexcept;
}  // namespace hook_interrupt

/// Looks for signals in the thread that Python handles them in, and for what a hook has kept. True when a handler (or the
/// hook) raised: the Python error is set. With the GIL, and no Python error set.
[[nodiscard]] bool interruption_raised() noexcept;

/// Adds a note to the Python error that is set, unless the note is empty, and the error before it as its context.
void annotate_error(const std::string& note, const py::object& context = {}) noexcept;

}  // namespace billcore::python
