// The arguments that choose the columns of batches.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "billcore/arrow.hpp"
#include "paging/list.hpp"

namespace billcore::python {

using ColumnsPtr = std::shared_ptr<const detail::Columns>;

/// The columns of a list's records with these names, or all, and then the constant columns. Throws
/// Error(invalid_argument).
[[nodiscard]] ColumnsPtr columns_of(const List& list, pybind11::handle fields, pybind11::handle constants = {});

/// The constant columns that a mapping of names to values describes; a time is refused. Throws Error(invalid_argument).
[[nodiscard]] std::vector<ArrowConstant> constants_of(pybind11::handle constants);

/// The values of rows, each a sequence with a value for each name; None is a time that is null. Throws
/// Error(invalid_argument).
[[nodiscard]] std::vector<std::vector<ArrowScalar>> scalars_of(const std::vector<std::string>& names,
                                                               const pybind11::list& rows);

}  // namespace billcore::python
