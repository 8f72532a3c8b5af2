// The type of events: a raw heap type like the resource views; it also keeps the body and its resource.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "billcore/event.hpp"

namespace billcore::python {

void bind_event(pybind11::module_& module);

/// The bytes that an event is to keep: `body` itself when it is bytes, else a copy of the buffer that it is.
/// name: of the argument, for errors.
[[nodiscard]] pybind11::bytes own_bytes(pybind11::handle body, const std::string& name = "body");
/// The same for the core; it keeps them alive.
[[nodiscard]] SharedText shared_text(const pybind11::bytes& bytes);
/// An Event over such bytes.
[[nodiscard]] pybind11::object make_event(Event event, pybind11::bytes body);

}  // namespace billcore::python
