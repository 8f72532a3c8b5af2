// Coroutine objects for AsyncClient's methods.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "call/bound_client.hpp"
#include "call/job.hpp"

namespace billcore::python {

/// A way to get a result without waiting. An awaited coroutine tries its shortcut before it makes a job.
struct Shortcut {
  const char* name;
  /// Returns the result, or null if the caller must wait for it.
  py::object (*take)(py::handle reader);
  std::unique_ptr<Job> (*job)(const py::object& reader);
  const BoundClient& (*bound)(py::handle reader);
};

/// Creates a coroutine object that tries `shortcut` first. `shortcut` must have static storage duration.
[[nodiscard]] py::object make_awaitable(py::object reader, const Shortcut& shortcut);
/// Creates a coroutine object that runs the job in the event loop that awaits it. `bound` must belong to an
/// AsyncClient. `name` must be a string literal.
[[nodiscard]] py::object make_awaitable(const BoundClient& bound, std::shared_ptr<Job> job, const char* name);
/// Creates a coroutine object without a client, for a job that sends no request.
[[nodiscard]] py::object make_awaitable(std::shared_ptr<Job> job, const char* name);
void bind_awaitable(py::module_& module);

/// Runs the job and returns its result, or for an AsyncClient an awaitable of the result. `name` must be a string
/// literal.
[[nodiscard]] py::object run(const BoundClient& bound, std::unique_ptr<Job> job, const char* name);

}  // namespace billcore::python
