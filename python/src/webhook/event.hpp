// The Event type: a raw heap type like the resource views; it also holds the body and the resource.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "billcore/event.hpp"

namespace billcore::python {

void bind_event(pybind11::module_& module);

/// Returns the bytes that an event keeps: `body` itself if it is bytes, else a copy of the buffer. `name` is the
/// argument's name, for errors.
[[nodiscard]] pybind11::bytes own_bytes(pybind11::handle body, const std::string& name = "body");
/// Returns the bytes as a text for the core; the text keeps the bytes object alive.
[[nodiscard]] SharedText shared_text(const pybind11::bytes& bytes);
/// Creates an Event. `body` is the result of own_bytes().
[[nodiscard]] pybind11::object make_event(Event event, pybind11::bytes body);

}  // namespace billcore::python
