// Reports attempts to Python: the user's hooks and logging.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "billcore/hooks.hpp"

namespace billcore::python {

namespace py = pybind11;

/// The hooks of a client. None: logging only, if enabled.
class HooksOption {
 public:
  HooksOption() = default;
  /// Error(invalid_argument) if the object has none of the hooks.
  explicit HooksOption(py::object target);
  /// Hooks for one call; null if nothing listens. `in_context`: run hooks in a copy of the current context, since the
  /// call continues elsewhere.
  [[nodiscard]] std::shared_ptr<Hooks> for_call(bool in_context) const;
  /// For the garbage collector.
  int traverse(visitproc visit, void* arg) const;

 private:
  py::object target_ = py::none();
};

/// For the garbage collector: visits what for_call() returned. Must be called by its only owner.
[[nodiscard]] int traverse_hooks(const std::shared_ptr<Hooks>& hooks, visitproc visit, void* arg);

}  // namespace billcore::python
