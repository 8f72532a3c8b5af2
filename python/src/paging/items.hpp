// Iterators over the items of a list.
#pragma once

#include <pybind11/pybind11.h>

#include "paging/list.hpp"

namespace billcore::python {

/// The iterator of a Pager.
[[nodiscard]] py::object make_items(const ListPtr& list);
/// The iterator of an AsyncPager.
[[nodiscard]] py::object make_awaited_items(const ListPtr& list);
void bind_items(py::module_& module);

}  // namespace billcore::python
