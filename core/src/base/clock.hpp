// The clock of deadlines. Internal.
#pragma once

#include <chrono>
#include <optional>

namespace billcore::detail {

using SteadyClock = std::chrono::steady_clock;
using Deadline = std::optional<SteadyClock::time_point>;

}  // namespace billcore::detail
