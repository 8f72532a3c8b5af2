// HMAC-SHA256 with prepared keys. Internal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "billcore/detail/secret.hpp"

namespace billcore::detail {

inline constexpr std::size_t digest_size = 32;
using Digest = std::array<std::uint8_t, digest_size>;

/// A hash state of libcrypto, without exposing libcrypto's types. The memory is overwritten when the state is freed.
struct HashState;
struct FreeHashState {
  void operator()(HashState* state) const noexcept;
};
using HashStatePointer = std::unique_ptr<HashState, FreeHashState>;

/// HMAC keys with precomputed inner and outer hash states. Immutable; may be shared between threads.
class HmacKeys {
 public:
  /// Throws std::bad_alloc, or Error(internal) if libcrypto has no SHA-256.
  explicit HmacKeys(std::span<const std::string_view> secrets);

  [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }

  /// Computes the MAC of a message with one key. Returns false only if memory runs out.
  [[nodiscard]] bool digest(std::size_t index, std::string_view message, Digest& out) const noexcept;

  /// The result of match() when memory ran out; larger than any size().
  static constexpr std::size_t no_memory = SIZE_MAX;
  /// Index of the first key that gives this MAC, or size() if no key does; no_memory if memory ran out for some keys
  /// and no other key matches. Always tries all keys; no branch and no memory address depends on a secret.
  [[nodiscard]] std::size_t match(std::string_view message, const Digest& claimed) const noexcept;

 private:
  friend class HmacStream;
  struct Key {
    HashStatePointer inner;
    HashStatePointer outer;
  };
  [[nodiscard]] static bool hash(const Key& key, std::string_view message, Digest& out) noexcept;
  // Computes the MAC of a message that is already hashed into `inner`.
  [[nodiscard]] static bool finish(const Key& key, HashStatePointer inner, Digest& out) noexcept;

  std::vector<Key> keys_;
};

/// Computes the MACs of a message with all keys, from the pieces of the message. Threads: one at a time.
class HmacStream {
 public:
  /// Begins a message. `keys` must outlive the stream. Throws std::bad_alloc.
  explicit HmacStream(const HmacKeys& keys);

  /// Adds a piece of the message. Throws std::bad_alloc.
  void update(std::string_view piece);
  /// Ends the message; returns the result of HmacKeys::match() for the whole message.
  [[nodiscard]] std::size_t match(const Digest& claimed) noexcept;

 private:
  const HmacKeys& keys_;
  std::vector<HashStatePointer> states_;
};

/// Compares two digests in constant time.
[[nodiscard]] bool equal_digests(const Digest& a, const Digest& b) noexcept;

/// Decodes exactly 64 lowercase hex digits, the only form that the service sends; returns false for any other text.
[[nodiscard]] bool decode_hex(std::string_view hex, Digest& out) noexcept;
[[nodiscard]] std::string encode_hex(const Digest& digest);

}  // namespace billcore::detail
