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

/// A hash state of libcrypto, under a name that shows none of its types. Its memory is overwritten when it goes.
struct HashState;
struct FreeHashState {
  void operator()(HashState* state) const noexcept;
};
using HashStatePointer = std::unique_ptr<HashState, FreeHashState>;

/// Keys whose inner and outer hash states have been computed. Immutable, may be shared between threads.
class HmacKeys {
 public:
  /// Throws std::bad_alloc, or Error(internal) when libcrypto has no SHA-256.
  explicit HmacKeys(std::span<const std::string_view> secrets);

  [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }

  /// The MAC of a message by one key. False only when memory runs out.
  [[nodiscard]] bool digest(std::size_t index, std::string_view message, Digest& out) const noexcept;

  /// More than any size().
  static constexpr std::size_t no_memory = SIZE_MAX;
  /// The first key that gives this MAC, or size(); no_memory when memory did not suffice for all keys and no other one gives
  /// it. All keys are tried, and nothing on the way, neither a branch nor an address, depends on a secret.
  [[nodiscard]] std::size_t match(std::string_view message, const Digest& claimed) const noexcept;

 private:
  friend class HmacStream;
  struct Key {
    HashStatePointer inner;
    HashStatePointer outer;
  };
  [[nodiscard]] static bool hash(const Key& key, std::string_view message, Digest& out) noexcept;
  // The MAC of a message that `inner` has hashed.
  [[nodiscard]] static bool finish(const Key& key, HashStatePointer inner, Digest& out) noexcept;

  std::vector<Key> keys_;
};

/// The MACs of one message that comes in pieces, by all keys at once. Threads: one at a time.
class HmacStream {
 public:
  /// `keys` must outlive this. Throws std::bad_alloc.
  explicit HmacStream(const HmacKeys& keys);

  /// Throws std::bad_alloc.
  void update(std::string_view piece);
  /// As HmacKeys::match(); ends the stream.
  [[nodiscard]] std::size_t match(const Digest& claimed) noexcept;

 private:
  const HmacKeys& keys_;
  std::vector<HashStatePointer> states_;
};

/// Compares in constant time.
[[nodiscard]] bool equal_digests(const Digest& a, const Digest& b) noexcept;

/// Strictly 64 lowercase hex digits: what the service sends. Anything looser would accept what it never sends.
[[nodiscard]] bool decode_hex(std::string_view hex, Digest& out) noexcept;
[[nodiscard]] std::string encode_hex(const Digest& digest);

}  // namespace billcore::detail
