// Handling of secrets. Not public interface.
#pragma once

#include <cstddef>
#include <string_view>

namespace billcore::detail {

/// Overwrites memory that held a secret.
void cleanse(void* memory, std::size_t size) noexcept;

/// Compares in a time that depends on the sizes alone.
[[nodiscard]] bool equal_secrets(std::string_view a, std::string_view b) noexcept;

}  // namespace billcore::detail
