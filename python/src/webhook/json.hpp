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

/// Returns a str from a cache of frequent texts, such as statuses; adds a short ASCII text that the cache lacks. The
/// cache has a fixed number of slots; each slot keeps the last text whose hash selected the slot.
[[nodiscard]] pybind11::object word(std::string_view text);

}  // namespace billcore::python
