// Formats amounts of money for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace billcore::python {

/// "18.75 DKK" for 1875 of DKK, with as many decimals as the currency has; "1875 XYZ" for an unknown currency.
[[nodiscard]] std::string amount_text(std::int64_t amount, std::string_view currency);

}  // namespace billcore::python
