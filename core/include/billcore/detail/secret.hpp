// Handling of secrets. Not public interface.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace billcore::detail {

/// Length of the service's signing secrets, in bytes.
inline constexpr std::size_t secret_size = 32;

/// Overwrites memory that held a secret.
void cleanse(void* memory, std::size_t size) noexcept;

/// Constant-time comparison: the time depends only on the sizes.
[[nodiscard]] bool equal_secrets(std::string_view a, std::string_view b) noexcept;

/// Allocator that overwrites memory before freeing it.
template <typename T>
struct CleansingAllocator {
  using value_type = T;
  CleansingAllocator() = default;
  template <typename U>
  explicit CleansingAllocator(const CleansingAllocator<U>&) noexcept {}
  T* allocate(std::size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* memory, std::size_t count) noexcept {
    cleanse(memory, count * sizeof(T));
    std::allocator<T>().deallocate(memory, count);
  }
  friend bool operator==(const CleansingAllocator&, const CleansingAllocator&) noexcept { return true; }
};

/// A vector, because a short std::string stores its text inline, where the allocator cannot overwrite it.
using SecretText = std::vector<char, CleansingAllocator<char>>;
[[nodiscard]] inline std::string_view view(const SecretText& text) noexcept { return {text.data(), text.size()}; }

}  // namespace billcore::detail
