// The groups of operations of a client; operations.cpp defines them.
#pragma once

#include <pybind11/pybind11.h>

#include <span>

#include "call/bound_client.hpp"

namespace billcore::python {

/// A property of a client that returns a group of operations. `make` creates a blocking or an awaited group,
/// depending on `bound`.
struct ClientGroup {
  const char* name;
  py::object (*make)(BoundClient bound);
  const char* doc;
};

[[nodiscard]] std::span<const ClientGroup> client_groups() noexcept;

}  // namespace billcore::python
