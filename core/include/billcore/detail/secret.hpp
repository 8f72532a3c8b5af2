// Handling of secrets. Not public interface.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace billcore::detail {

/// The service's signing secrets have this many bytes.
inline constexpr std::size_t secret_size = 32;

/// Overwrites memory that held a secret.
void cleanse(void* memory, std::size_t size) noexcept;

/// Compares in a time that depends on the sizes alone.
[[nodiscard]] bool equal_secrets(std::string_view a, std::string_view b) noexcept;

/// Text is overwritten before its memory is given back.
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

/// A vector, because a short std::string keeps its text inside itself, where nobody would overwrite it.
using SecretText = std::vector<char, CleansingAllocator<char>>;
[[nodiscard]] inline std::string_view view(const SecretText& text) noexcept { return {text.data(), text.size()}; }

}  // namespace billcore::detail
