// Coroutine objects for AsyncClient's methods.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "call/job.hpp"
#include "call/sender.hpp"

namespace billcore::python {

/// A coroutine object that runs the job in the event loop that awaits it. sender: from an AsyncClient. `name` must be
/// static.
[[nodiscard]] py::object make_awaitable(const Sender& sender, std::shared_ptr<Job> job, const char* name);
/// Same without a client, for a job that sends nothing.
[[nodiscard]] py::object make_awaitable(std::shared_ptr<Job> job, const char* name);
void bind_awaitable(py::module_& module);

}  // namespace billcore::python
