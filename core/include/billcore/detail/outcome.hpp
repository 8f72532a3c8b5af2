// What an answer says about a write. For the bindings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "billcore/error.hpp"

namespace billcore::detail {

enum class Outcome : std::uint8_t { done, refused, unknown };

/// Of a complete answer with this status: 2xx is done, 4xx but 408 refused, anything else (3xx, 408, 5xx) leaves it open.
[[nodiscard]] Outcome outcome_of_status(int status) noexcept;

/// One line about a write that was interrupted after a complete answer came. subject: such as "POST /x: ".
[[nodiscard]] std::string interrupted_after_answer(std::string_view subject, int status);
/// The same when the write had ended with this error.
[[nodiscard]] std::string interrupted_after_error(const Error& error);

}  // namespace billcore::detail
