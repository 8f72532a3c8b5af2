// Reports attempts to Python: the user's hooks and logging.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <string_view>

#include "billcore/hooks.hpp"

namespace billcore::python {

namespace py = pybind11;

/// The hooks of a client. None: logging only, if enabled.
class HooksOption {
 public:
  HooksOption() = default;
  /// Error(invalid_argument) if the object has none of the hooks.
  explicit HooksOption(py::object target);
  /// Hooks for one call; null if the client has no hooks and logging is off. `in_context`: run hooks in a copy of the
  /// current context, because the call continues in another context.
  [[nodiscard]] std::shared_ptr<Hooks> for_call(bool in_context) const;
  /// Visits the user's hooks for the garbage collector.
  int traverse(visitproc visit, void* arg) const;

 private:
  py::object target_ = py::none();
};

/// The core's hooks of every client, which log a write that was sent and given up if the call has no hooks of its own.
[[nodiscard]] std::shared_ptr<Hooks> given_up_log();
/// Imports what given_up_log() needs. Call need_given_up_log() before a write: later, the import may be refused, or
/// interrupted by a signal handler.
void need_given_up_log();

/// A write that had ended when its caller was cancelled or interrupted, and whose result is lost.
struct LostResult {
  std::string method = {};
  std::string path = {};
  std::string_view route = {};
  std::string outcome = {};  // one line that begins with method and path, as in the notes of exceptions
  int attempts = 1;
  std::string request_id = {};
};
/// Logs a lost result, if the module `logging` is loaded. Keeps the Python error that is set. Requires the GIL.
void log_lost(const LostResult& result) noexcept;

/// Visits the hooks from for_call() for the garbage collector. Must be called by their only owner.
[[nodiscard]] int traverse_hooks(const std::shared_ptr<Hooks>& hooks, visitproc visit, void* arg);

}  // namespace billcore::python
