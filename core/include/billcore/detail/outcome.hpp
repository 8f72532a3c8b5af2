// What an answer says about a write. For the bindings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "billcore/error.hpp"
#include "billcore/json.hpp"

namespace billcore::detail {

enum class Outcome : std::uint8_t { done, refused, unknown };

/// Of a complete answer with this status: 2xx is done, 4xx but 408 refused, anything else (3xx, 408, 5xx) leaves it open.
[[nodiscard]] Outcome outcome_of_status(int status) noexcept;

/// One line about a write that was interrupted after a complete answer came. subject: such as "POST /x: ". data: the
/// resource that it brought, whose id is named.
[[nodiscard]] std::string interrupted_after_answer(std::string_view subject, int status,
                                                   const std::optional<Value>& data = {});
/// The same when the write had ended with this error.
[[nodiscard]] std::string interrupted_after_error(const Error& error);

}  // namespace billcore::detail
