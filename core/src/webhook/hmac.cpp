// HMAC-SHA256 with OpenSSL's libcrypto. Only this file and sha256.hpp include OpenSSL's headers.
#include "webhook/hmac.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <new>

#include "base/encoding.hpp"
#include "billcore/detail/libraries.hpp"
#include "webhook/sha256.hpp"

namespace billcore::detail {
namespace {

constexpr std::size_t block_size = 64;

// Bytes that are overwritten on destruction.
template <std::size_t size>
struct Secret : std::array<std::uint8_t, size> {
  Secret() : std::array<std::uint8_t, size>{} {}
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() { cleanse(this->data(), size); }
};

// The implementation of SHA-256. The implementation is looked up only once, because a look-up costs more than hashing a
// small body. Apart from `found`, the webhook library has no global state.
const Sha256& sha256() {
  static const Sha256 found;
  return found;
}

// The hash state after one block: the key, padded with zeros and XORed with `pad`.
HashStatePointer prepare(const Secret<block_size>& key, std::uint8_t pad) {
  Secret<block_size> padded;
  std::transform(key.begin(), key.end(), padded.begin(),
                 [pad](std::uint8_t byte) { return static_cast<std::uint8_t>(byte ^ pad); });
  auto state = sha256().make();
  if (state == nullptr || !sha256().update(state, padded.data(), padded.size())) throw std::bad_alloc();
  return state;
}

// Returns 0 if the digests are equal. Compares two halves, because CRYPTO_memcmp() compares 16 bytes at once, but any
// other size byte by byte.
int difference(const Digest& a, const Digest& b) noexcept {
  constexpr std::size_t half = digest_size / 2;
  return CRYPTO_memcmp(a.data(), b.data(), half) | CRYPTO_memcmp(a.data() + half, b.data() + half, half);
}

// Returns `index` if the digests are equal, else `otherwise`, without a branch.
std::size_t if_equal(const Digest& a, const Digest& b, std::size_t index, std::size_t otherwise) noexcept {
  std::size_t keep = std::size_t{0} - ((static_cast<std::size_t>(difference(a, b)) + 255U) >> 8U);
#if defined(__GNUC__)
  __asm__("" : "+r"(keep));  // prevents the compiler from using a branch
#endif
  return (otherwise & keep) | (index & ~keep);
}

}  // namespace

void FreeHashState::operator()(HashState* state) const noexcept { sha256().free(state); }

HmacKeys::HmacKeys(std::span<const std::string_view> secrets) {
  keys_.reserve(secrets.size());
  for (const auto secret : secrets) {
    Secret<block_size> block;
    if (secret.size() > block.size()) {
      const auto state = sha256().make();
      if (state == nullptr || !sha256().update(state, secret.data(), secret.size()) ||
          !sha256().final(state, block.data())) {
        throw std::bad_alloc();
      }
    } else {
      std::copy(secret.begin(), secret.end(), block.begin());
    }
    auto inner = prepare(block, 0x36);
    auto outer = prepare(block, 0x5c);
    keys_.push_back({std::move(inner), std::move(outer)});
  }
}

bool HmacKeys::finish(const Key& key, HashStatePointer inner, Digest& out) noexcept {
  const auto& sha = sha256();
  if (!sha.final(inner, out.data())) return false;
  inner.reset();  // frees memory that sha.copy() can reuse
  const auto outer = sha.copy(key.outer);
  return outer != nullptr && sha.update(outer, out.data(), out.size()) && sha.final(outer, out.data());
}

bool HmacKeys::hash(const Key& key, std::string_view message, Digest& out) noexcept {
  auto inner = sha256().copy(key.inner);
  return inner != nullptr && sha256().update(inner, message.data(), message.size()) &&
         finish(key, std::move(inner), out);
}

bool HmacKeys::digest(std::size_t index, std::string_view message, Digest& out) const noexcept {
  return hash(keys_[index], message, out);
}

std::size_t HmacKeys::match(std::string_view message, const Digest& claimed) const noexcept {
  std::size_t found = size();
  bool failed = false;
  for (std::size_t i = size(); i-- > 0;) {  // in reverse order, so that `found` is the first match
    Secret<digest_size> computed;           // a Secret, because the MAC is the valid signature
    if (hash(keys_[i], message, computed)) {
      found = if_equal(computed, claimed, i, found);
    } else {
      failed = true;
    }
  }
  return failed && found == size() ? no_memory : found;
}

HmacStream::HmacStream(const HmacKeys& keys) : keys_(keys) {
  states_.reserve(keys.size());
  for (const auto& key : keys.keys_) {
    states_.push_back(sha256().copy(key.inner));
    if (states_.back() == nullptr) throw std::bad_alloc();
  }
}

void HmacStream::update(std::string_view piece) {
  for (const auto& state : states_) {
    if (!sha256().update(state, piece.data(), piece.size())) throw std::bad_alloc();
  }
}

std::size_t HmacStream::match(const Digest& claimed) noexcept {
  std::size_t found = keys_.size();
  bool failed = false;
  for (std::size_t i = keys_.size(); i-- > 0;) {
    Secret<digest_size> computed;
    if (HmacKeys::finish(keys_.keys_[i], std::move(states_[i]), computed)) {
      found = if_equal(computed, claimed, i, found);
    } else {
      failed = true;
    }
  }
  states_.clear();
  return failed && found == keys_.size() ? HmacKeys::no_memory : found;
}

bool equal_digests(const Digest& a, const Digest& b) noexcept { return difference(a, b) == 0; }

bool decode_hex(std::string_view hex, Digest& out) noexcept {
  if (hex.size() != 2 * out.size()) return false;
  // No branches and no tables, so that the compiler can vectorise the loop.
  std::array<std::uint8_t, 2 * digest_size> values;
  std::uint8_t good = 0xFF;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto c = static_cast<std::uint8_t>(hex[i]);
    const auto number = static_cast<std::uint8_t>(c - '0');
    const auto letter = static_cast<std::uint8_t>(c - 'a');
    const std::uint8_t is_number = number < 10 ? 0xFF : 0;
    const std::uint8_t is_letter = letter < 6 ? 0xFF : 0;
    good &= static_cast<std::uint8_t>(is_number | is_letter);
    values[i] = static_cast<std::uint8_t>((number & is_number) | ((letter + 10) & is_letter));
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::uint8_t>(values[2 * i] << 4U | values[2 * i + 1]);
  }
  return good == 0xFF;
}

std::string encode_hex(const Digest& digest) {
  std::string out;
  out.reserve(2 * digest.size());
  encode_hex_text({reinterpret_cast<const char*>(digest.data()), digest.size()}, hex_digits, out);
  return out;
}

LinkedLibrary linked_crypto() { return {"openssl", crypto_version()}; }

void cleanse(void* memory, std::size_t size) noexcept { OPENSSL_cleanse(memory, size); }

bool equal_secrets(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace billcore::detail
