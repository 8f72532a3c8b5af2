// The Python class ResponseInfo: metadata of the HTTP answer that contained a result.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "billcore/resource.hpp"

namespace billcore::python {

void bind_response_info(pybind11::module_& module);

/// Adds a header to a dict; joins the values of headers with the same name by commas.
void add_header(pybind11::dict& headers, const std::string& name, const std::string& value);

/// Creates a ResponseInfo; None if `info` is null. Returns a new reference, or null with a Python error set.
[[nodiscard]] PyObject* make_response_info(const std::shared_ptr<const ResponseInfo>& info) noexcept;

}  // namespace billcore::python
