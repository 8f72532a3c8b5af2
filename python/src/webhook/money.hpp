// Formats amounts of money for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace billcore::python {

/// Returns for example "18.75 DKK" for 1875 and "DKK", with as many decimals as the currency has. For an unknown
/// currency the number is unchanged: "1875 XYZ".
[[nodiscard]] std::string amount_text(std::int64_t amount, std::string_view currency);

}  // namespace billcore::python
