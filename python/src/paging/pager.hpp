// The Python classes Pager and AsyncPager.
#pragma once

#include "billcore/detail/list.hpp"
#include "billcore/operation.hpp"
#include "call/bound_client.hpp"

namespace billcore::python {

[[nodiscard]] py::object make_pager(const BoundClient& bound, View type, ListOperation list,
                                    const detail::PagerOptions& pager, CallOptions options);
void bind_pager(py::module_& module);

}  // namespace billcore::python
