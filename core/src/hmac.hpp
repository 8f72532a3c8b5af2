// HMAC-SHA256 with prepared keys. Internal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace billcore::detail {

inline constexpr std::size_t digest_size = 32;
using Digest = std::array<std::uint8_t, digest_size>;

/// A key whose inner and outer hash states have been computed. Immutable, may be shared between threads.
class HmacKey {
 public:
  /// Throws std::bad_alloc, or Error(internal) when libcrypto has no SHA-256.
  explicit HmacKey(std::string_view secret);
  HmacKey(HmacKey&&) noexcept;
  HmacKey& operator=(HmacKey&&) noexcept;
  ~HmacKey();

  /// False only when memory runs out.
  [[nodiscard]] bool digest(std::string_view message, Digest& out) const noexcept;

 private:
  struct Free {
    void operator()(void* context) const noexcept;
  };
  using Context = std::unique_ptr<void, Free>;
  Context inner_;
  Context outer_;
};

/// Compares in constant time.
[[nodiscard]] bool equal_digests(const Digest& a, const Digest& b) noexcept;

/// Overwrites memory that held a secret.
void cleanse(void* memory, std::size_t size) noexcept;

}  // namespace billcore::detail
