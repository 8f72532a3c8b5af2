// Reads a part of an event by a dotted path through the typed getters; the paths are those of the shared fixtures.
#pragma once

#include <string>
#include <string_view>

#include "billcore/error.hpp"
#include "billcore/event.hpp"

namespace billcore::test {

/// Returns the getter's result as JSON text; an Error becomes {"error": {"class": …, "message": …}}.
[[nodiscard]] std::string read_path(const Event& event, std::string_view path);

[[nodiscard]] const char* class_of(ErrorCode code);

}  // namespace billcore::test
