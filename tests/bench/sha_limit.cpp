// OpenSSL deprecates the functions used here, but has no replacement that costs as little.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "sha_limit.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>

struct ShaLimit::States {
  SHA256_CTX inner;
  SHA256_CTX outer;
};

ShaLimit::ShaLimit(std::string_view secret) : states_(std::make_unique<States>()) {
  const auto prepare = [secret](std::uint8_t pad) {
    std::array<std::uint8_t, SHA256_CBLOCK> block{};
    std::copy(secret.begin(), secret.end(), block.begin());
    for (auto& byte : block) byte ^= pad;
    SHA256_CTX state;
    SHA256_Init(&state);
    SHA256_Update(&state, block.data(), block.size());
    return state;
  };
  states_->inner = prepare(0x36);
  states_->outer = prepare(0x5c);
}

ShaLimit::~ShaLimit() = default;

bool ShaLimit::verify(std::string_view body, const std::array<std::uint8_t, 32>& claimed) const {
  std::array<std::uint8_t, 32> digest;
  SHA256_CTX state = states_->inner;
  SHA256_Update(&state, body.data(), body.size());
  SHA256_Final(digest.data(), &state);
  state = states_->outer;
  SHA256_Update(&state, digest.data(), digest.size());
  SHA256_Final(digest.data(), &state);
  return CRYPTO_memcmp(digest.data(), claimed.data(), digest.size()) == 0;
}
