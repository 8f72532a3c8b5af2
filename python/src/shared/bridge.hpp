// Functions of `_webhook` that `_client` calls: only `_webhook` defines the resource types and converts errors.
//
// Each module links its own hidden copy of the core. The modules pass core objects to each other only by reference,
// through the functions of this table. Both copies of the core must have the same layout, so `_client` refuses a
// table from another build.
#pragma once

#include <Python.h>

#include <memory>

#include "billcore/error.hpp"
#include "billcore/json.hpp"
#include "billcore/resource.hpp"
#include "shared/view.hpp"

namespace billcore::python {

/// All functions require the GIL. A returned object is a new reference, or null with a Python error set.
struct Bridge {
  const char* build_id;  // build_id must stay the first member, so that `_client` of any build can read it
  PyObject* (*make_view)(View type, const Value& value) noexcept;
  PyObject* (*make_plain)(const Value& value) noexcept;
  PyObject* (*make_response_info)(const std::shared_ptr<const ResponseInfo>& info) noexcept;
  void (*set_error)(const Error& error) noexcept;
};

inline constexpr const char* bridge_name = "billcore._webhook._bridge";

}  // namespace billcore::python
