// The types of resource views: raw heap types that contain a Value. All types are made from the table in
// model_table.hpp.
//
// The views are immutable, hold no Python object (so the garbage collector need not track them) and can be created from
// Python only by unpickling.
#pragma once

#include <pybind11/pybind11.h>

#include "billcore/json.hpp"
#include "shared/bridge.hpp"
#include "webhook/model_table.hpp"

namespace billcore::python {

/// Creates the types and adds them to the module.
void bind_model(pybind11::module_& module);

/// Creates a view of `value`, which must be an object. Returns a new reference, or null with a Python error set.
[[nodiscard]] PyObject* make_view(View type, const Value& value) noexcept;

/// Returns the field as a Python value; a null handle if the JSON value does not have the field's kind.
[[nodiscard]] pybind11::object try_field(const Value& owner, const Field& field);

// Implement `name in owner` and `owner[name]`; `owner` is a JSON object. get_member() returns plain JSON, or null
// with KeyError set.
[[nodiscard]] int has_member(const Value& owner, PyObject* name) noexcept;
[[nodiscard]] PyObject* get_member(const Value& owner, PyObject* name) noexcept;

}  // namespace billcore::python
