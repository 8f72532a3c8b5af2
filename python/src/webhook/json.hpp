// Converts the core's JSON to plain Python values, as json.loads() does.
#pragma once

#include <pybind11/pybind11.h>

#include <string_view>

#include "billcore/detail/document.hpp"
#include "billcore/json.hpp"

namespace billcore::python {

/// Converts a value to dict, list, str, int of any size, float, bool or None. Throws Error(decode) or
/// error_already_set.
[[nodiscard]] pybind11::object plain(const Value& value);
/// Converts an integer of any size.
[[nodiscard]] pybind11::object plain_integer(const detail::Document& document, const detail::Node* node);

/// A shared str for a text that is one of a few frequent values. The cache has a fixed number of slots; each keeps the
/// text that used it last.
[[nodiscard]] pybind11::object word(std::string_view text);

}  // namespace billcore::python
