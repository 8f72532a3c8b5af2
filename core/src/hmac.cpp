// The one file that knows OpenSSL.
#include "hmac.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <new>

#include "billcore/error.hpp"

namespace billcore::detail {
namespace {

constexpr std::size_t block_size = 64;

// Fetched once: looking the algorithm up by name costs more than hashing a small body. The only state the library
// keeps.
const EVP_MD* sha256() {
  static const EVP_MD* const md = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  if (md == nullptr) throw Error(ErrorCode::internal, "libcrypto offers no SHA-256: check the OpenSSL installation");
  return md;
}

EVP_MD_CTX* context(void* handle) noexcept { return static_cast<EVP_MD_CTX*>(handle); }

}  // namespace

void HmacKey::Free::operator()(void* handle) const noexcept { EVP_MD_CTX_free(context(handle)); }

HmacKey::HmacKey(HmacKey&&) noexcept = default;
HmacKey& HmacKey::operator=(HmacKey&&) noexcept = default;
HmacKey::~HmacKey() = default;

HmacKey::HmacKey(std::string_view secret) {
  std::array<std::uint8_t, block_size> block{};
  if (secret.size() > block_size) {
    if (EVP_Digest(secret.data(), secret.size(), block.data(), nullptr, sha256(), nullptr) != 1) throw std::bad_alloc();
  } else {
    std::copy(secret.begin(), secret.end(), block.begin());
  }
  const auto prepare = [&block](std::uint8_t pad) {
    std::array<std::uint8_t, block_size> padded{};
    std::transform(block.begin(), block.end(), padded.begin(),
                   [pad](std::uint8_t byte) { return static_cast<std::uint8_t>(byte ^ pad); });
    Context prepared(EVP_MD_CTX_new());
    const bool done = prepared != nullptr && EVP_DigestInit_ex2(context(prepared.get()), sha256(), nullptr) == 1 &&
                      EVP_DigestUpdate(context(prepared.get()), padded.data(), padded.size()) == 1;
    cleanse(padded.data(), padded.size());
    if (!done) throw std::bad_alloc();
    return prepared;
  };
  inner_ = prepare(0x36);
  outer_ = prepare(0x5c);
  cleanse(block.data(), block.size());
}

bool HmacKey::digest(std::string_view message, Digest& out) const noexcept {
  const Context scratch(EVP_MD_CTX_new());
  EVP_MD_CTX* work = context(scratch.get());
  return work != nullptr && EVP_MD_CTX_copy_ex(work, context(inner_.get())) == 1 &&
         EVP_DigestUpdate(work, message.data(), message.size()) == 1 &&
         EVP_DigestFinal_ex(work, out.data(), nullptr) == 1 && EVP_MD_CTX_copy_ex(work, context(outer_.get())) == 1 &&
         EVP_DigestUpdate(work, out.data(), out.size()) == 1 && EVP_DigestFinal_ex(work, out.data(), nullptr) == 1;
}

bool equal_digests(const Digest& a, const Digest& b) noexcept {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void cleanse(void* memory, std::size_t size) noexcept { OPENSSL_cleanse(memory, size); }

}  // namespace billcore::detail
