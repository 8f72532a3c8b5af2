// The Python classes Got, GotIterator and AsyncGotIterator.
#pragma once

#include "billcore/internal.hpp"
#include "billcore/operation.hpp"
#include "billcore/values.hpp"
#include "call/bound_client.hpp"

namespace billcore::python {

/// The arguments of get_many(), and how to read an id and make its request.
struct ManyArguments {
  py::handle ids;
  py::handle concurrency;
  py::handle ordered;
  CallOptions call;
};
struct ManyRequest {
  View type;
  Id (*id)(py::handle value);
  Operation (*get)(const Id& id);
};

[[nodiscard]] py::object make_many(const BoundClient& bound, const ManyRequest& request, ManyArguments from);
void bind_many(py::module_& module);

}  // namespace billcore::python
