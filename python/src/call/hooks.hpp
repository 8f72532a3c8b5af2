// Telling Python of attempts: the user's hooks, and logging.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "billcore/hooks.hpp"

namespace billcore::python {

namespace py = pybind11;

/// The hooks of a client. None: only logging, if anybody listens.
class HooksOption {
 public:
  HooksOption() = default;
  /// Error(invalid_argument) when it has no hook at all.
  explicit HooksOption(py::object target);
  /// For one call: null when nobody wants to be told. `in_context`: hooks run in a copy of the present context, since the
  /// call goes on elsewhere.
  [[nodiscard]] std::shared_ptr<Hooks> for_call(bool in_context) const;
  /// For the garbage collector.
  int traverse(visitproc visit, void* arg) const;

 private:
  py::object target_ = py::none();
};

/// For the garbage collector: what for_call() gave, to be visited by its only owner.
[[nodiscard]] int traverse_hooks(const std::shared_ptr<Hooks>& hooks, visitproc visit, void* arg);

}  // namespace billcore::python
