// ResponseInfo: metadata of the answer that contained a result.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "billcore/resource.hpp"

namespace billcore::python {

void bind_response_info(pybind11::module_& module);

/// Adds a header to a dict: values of one name are joined by commas.
void add_header(pybind11::dict& headers, const std::string& name, const std::string& value);

/// A ResponseInfo, or None for null. New reference, or null with an error set.
[[nodiscard]] PyObject* make_response_info(const std::shared_ptr<const ResponseInfo>& info) noexcept;

}  // namespace billcore::python
