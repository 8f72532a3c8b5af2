// The type of events: a raw heap type like the resource views; it also keeps the body and its resource.
#pragma once

#include <pybind11/pybind11.h>

#include "billcore/event.hpp"

namespace billcore::python {

void bind_event(pybind11::module_& module);

/// An Event over a body that the event itself keeps alive.
[[nodiscard]] pybind11::object make_event(Event event, pybind11::bytes body);

}  // namespace billcore::python
