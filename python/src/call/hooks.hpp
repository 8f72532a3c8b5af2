// Reports attempts to Python: the user's hooks and logging.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <string_view>

#include "billcore/hooks.hpp"

namespace billcore::python {

namespace py = pybind11;

/// The option `hooks` of a client. If the option is None, billcore calls no hooks, but still logs if logging is
/// enabled.
class HooksOption {
 public:
  HooksOption() = default;
  /// Throws Error(invalid_argument) if `target` has none of the hook methods.
  explicit HooksOption(py::object target);
  /// Returns the hooks for one call; null if the client has no hooks and logging is off. `in_context`: run the hooks
  /// in a copy of the current context, because an awaited call continues in another context.
  [[nodiscard]] std::shared_ptr<Hooks> for_call(bool in_context) const;
  /// Visits the user's hooks for the garbage collector.
  int traverse(visitproc visit, void* arg) const;

 private:
  py::object target_ = py::none();
};

/// Returns the hooks that every client passes to the core. For a call without hooks of its own, the returned hooks log
/// each write that was sent and then abandoned.
[[nodiscard]] std::shared_ptr<Hooks> given_up_log();
/// Imports the module that given_up_log() needs. Call need_given_up_log() before a write, because after the write a
/// finalizing interpreter may refuse the import of the module, or a signal handler may interrupt the import.
void need_given_up_log();

/// If the program has imported gevent, imports the modules that calls would import later, and looks the logger up. Both
/// take locks of Python, which gevent replaces, and a thread of gevent's pool may wait forever for a replaced lock.
void prepare_for_gevent();

/// A write whose result is lost, because the write had already ended when its caller was cancelled or interrupted.
struct LostResult {
  std::string method = {};
  std::string path = {};
  std::string_view route = {};
  std::string outcome = {};  // one line that begins with method and path, as in an exception's note
  int attempts = 1;
  std::string request_id = {};
};
/// Logs a lost result, if the module `logging` is loaded. Does not change the Python error that is set. Requires the
/// GIL.
void log_lost(const LostResult& result) noexcept;

/// Visits the hooks that for_call() returned, for the garbage collector. Call this function only if `hooks` has a
/// single owner.
[[nodiscard]] int traverse_hooks(const std::shared_ptr<Hooks>& hooks, visitproc visit, void* arg);

}  // namespace billcore::python
