// ResponseInfo: metadata of the answer that a result was received with.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "billcore/resource.hpp"

namespace billcore::python {

void bind_response_info(pybind11::module_& module);

/// A ResponseInfo, or None for null. New reference, or null with an error set.
[[nodiscard]] PyObject* make_response_info(const std::shared_ptr<const ResponseInfo>& info) noexcept;

}  // namespace billcore::python
