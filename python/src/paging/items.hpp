// Iterators over the items of a list.
#pragma once

#include <pybind11/pybind11.h>

#include "paging/list.hpp"

namespace billcore::python {

/// The iterator of a Pager or of an AsyncPager.
[[nodiscard]] py::object make_items(const ListPtr& list);
void bind_items(py::module_& module);

}  // namespace billcore::python
