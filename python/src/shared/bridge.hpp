// What `_client` gets from `_webhook`: the types and the error translator exist once, there.
//
// Each module links its own hidden copy of the core; objects of the core cross between them by reference only, through the
// functions of this table. That needs one layout in both, so `_client` refuses a table of another build.
#pragma once

#include <Python.h>

#include <memory>

#include "billcore/error.hpp"
#include "billcore/json.hpp"
#include "billcore/resource.hpp"
#include "shared/view.hpp"

namespace billcore::python {

/// All functions need the GIL. Those that give an object give a new reference, or null with a Python error set.
struct Bridge {
  const char* build_id;  // stays first, so that any build can read it
  PyObject* (*make_view)(View type, const Value& value) noexcept;
  PyObject* (*make_plain)(const Value& value) noexcept;
  PyObject* (*make_response_info)(const std::shared_ptr<const ResponseInfo>& info) noexcept;
  void (*set_error)(const Error& error) noexcept;
};

inline constexpr const char* bridge_name = "billcore._webhook._bridge";

}  // namespace billcore::python
