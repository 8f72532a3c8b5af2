// Defines the Python type of a group of operations.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>

#include "asyncio/awaitable.hpp"
#include "call/bound_client.hpp"
#include "call/job.hpp"
#include "client/by_hand.hpp"
#include "client/options.hpp"
#include "paging/pager.hpp"
#include "shared/collect.hpp"
#include "shared/fast_call.hpp"
#include "shared/uninitialised.hpp"

namespace billcore::python {

/// Adds a method with the signature of `Arguments`. The method calls `body(self, arguments)` or
/// `body(self, arguments, more)`; `more` has the keyword arguments that match no parameter.
template <typename Arguments, typename Group, typename Body>
void define(py::class_<Group>& type, Body body) {
  static const Signature read(Arguments::signature);
  def(type, read, Arguments::doc, [body](const Group& self, const Call& call) -> py::object {
    if constexpr (requires { Arguments::keywords; }) {
      py::dict more;
      const Arguments from(read.bind(call, &more));
      require_known(read.name(), more, Arguments::keywords);
      return body(self, from, more);
    } else {
      return body(self, Arguments(read.bind(call)));
    }
  });
}

enum class Waiting { blocking, awaited };

template <typename Group>
py::class_<Group> group(py::module_& module, Waiting kind, const std::string& name, const char* doc) {
  auto type = py::class_<Group>(module, ((kind == Waiting::awaited ? "Async" : "") + name).c_str(), py::is_final(),
                                collected<Group>(), doc, py::metaclass(guarding_metaclass()));
  type.attr("__module__") = "billcore";
  refuse_copies(type, "it belongs to a client, which holds an API key");
  return type;
}

/// When a user looks for the method `name` in this group, the AttributeError says that the method is at `place`.
template <typename Group>
void elsewhere(py::class_<Group>& type, const char* name, const char* place) {
  const std::string group = py::str(type.attr("__name__"));
  type.def("__getattr__", [group, name, place](const Group& /*self*/, const py::str& wanted) -> py::object {
    const auto hint = PyUnicode_Compare(wanted.ptr(), py::str(name).ptr()) == 0 ? std::string(": use client.") + place
                                                                                : std::string();
    PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute %R%s", group.c_str(), wanted.ptr(), hint.c_str());
    throw py::error_already_set();
  });
}

template <template <Waiting> typename Group>
py::object make_group(BoundClient bound) {
  if (bound.is_awaited()) return py::cast(Group<Waiting::awaited>{std::move(bound)});
  return py::cast(Group<Waiting::blocking>{std::move(bound)});
}

inline py::object resource(const BoundClient& bound, View type, Operation operation, py::handle timeout,
                           const char* name) {
  return run(bound, std::make_unique<ResourceJob>(type, std::move(operation), call_options(timeout)), name);
}

}  // namespace billcore::python
