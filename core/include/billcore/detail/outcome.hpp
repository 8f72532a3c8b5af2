// The outcome of a write, derived from the answer to the write. For the bindings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "billcore/error.hpp"
#include "billcore/json.hpp"

namespace billcore::detail {

enum class Outcome : std::uint8_t { done, refused, unknown };

/// Outcome of a write, derived from the status of its complete answer: 2xx is done, 4xx except 408 is refused, any
/// other status (3xx, 408, 5xx) is unknown.
[[nodiscard]] Outcome outcome_of_status(int status) noexcept;

/// One-line description of a write that was interrupted after its complete answer was received. The line begins with
/// `subject`, for example "POST /x: ", and contains the id of the returned resource `data`.
[[nodiscard]] std::string interrupted_after_answer(std::string_view subject, int status,
                                                   const std::optional<Value>& data = {});
/// One-line description of a write that was interrupted after it had failed with `error`.
[[nodiscard]] std::string interrupted_after_error(const Error& error);

}  // namespace billcore::detail
