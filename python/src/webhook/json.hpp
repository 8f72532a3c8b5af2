// JSON of the core as plain Python values, as json.loads() would give them.
#pragma once

#include <pybind11/pybind11.h>

#include <string_view>

#include "billcore/detail/document.hpp"
#include "billcore/json.hpp"

namespace billcore::python {

/// dict, list, str, int of any size, float, bool, None. Throws Error(decode) or error_already_set.
[[nodiscard]] pybind11::object plain(const Value& value);
/// A whole number of any size.
[[nodiscard]] pybind11::object plain_integer(const detail::Document& document, const detail::Node* node);

/// A text out of few that come again and again: one str for each. Each of a limited number of places keeps the word that
/// came last.
[[nodiscard]] pybind11::object word(std::string_view text);

}  // namespace billcore::python
