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
  /// The result; null if the caller must wait for it.
  py::object (*take)(py::handle reader);
  std::unique_ptr<Job> (*job)(const py::object& reader);
  const BoundClient& (*bound)(py::handle reader);
};

/// A coroutine object for `shortcut`, which must be static.
[[nodiscard]] py::object make_awaitable(py::object reader, const Shortcut& shortcut);
/// A coroutine object that runs the job in the event loop that awaits it. `bound` is that of an AsyncClient. `name`
/// must be static.
[[nodiscard]] py::object make_awaitable(const BoundClient& bound, std::shared_ptr<Job> job, const char* name);
/// A coroutine object without a client, for a job that sends nothing.
[[nodiscard]] py::object make_awaitable(std::shared_ptr<Job> job, const char* name);
void bind_awaitable(py::module_& module);

/// Runs the job: returns its result, or an awaitable for it. `name` must be static.
[[nodiscard]] py::object run(const BoundClient& bound, std::unique_ptr<Job> job, const char* name);

}  // namespace billcore::python
