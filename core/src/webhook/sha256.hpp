// Calls libcrypto's SHA-256 without the EVP functions, whose copying and checking at each step would take 5 % of the
// time of a MAC over 900 bytes. Internal: only for hmac.cpp.
#pragma once

#if defined(BILLCORE_BUNDLE)
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/sha.h>
// A function of libcrypto that its headers do not declare.
extern "C" void OPENSSL_cpuid_setup(void);
#else
#include <openssl/core_dispatch.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#endif

#include <algorithm>
#include <new>

#include "billcore/error.hpp"
#include "webhook/hmac.hpp"

namespace billcore::detail {

#if defined(BILLCORE_BUNDLE)

inline const char* crypto_version() noexcept { return OPENSSL_VERSION_STR; }

struct HashState {
  SHA256_CTX context;
};

/// Calls the low-level functions of a statically linked libcrypto. A provider of libcrypto would link all algorithms,
/// which are five times the size of this library, and would need a look-up before the first signature.
class Sha256 {
 public:
  /// Detects which instructions the processor has, as libcrypto's initialisation would. If the processor has suitable
  /// instructions, the hash is four times as fast.
  Sha256() noexcept { OPENSSL_cpuid_setup(); }
  /// Makes a new state; returns null if memory runs out.
  [[nodiscard]] static HashStatePointer make() noexcept {
    HashStatePointer state(new (std::nothrow) HashState);
    if (state != nullptr && SHA256_Init(&state->context) != 1) state.reset();
    return state;
  }
  [[nodiscard]] static HashStatePointer copy(const HashStatePointer& state) noexcept {
    return HashStatePointer(new (std::nothrow) HashState(*state));
  }
  [[nodiscard]] static bool update(const HashStatePointer& state, const void* data, std::size_t size) noexcept {
    return SHA256_Update(&state->context, data, size) == 1;
  }
  [[nodiscard]] static bool final(const HashStatePointer& state, std::uint8_t* out) noexcept {
    return SHA256_Final(out, &state->context) == 1;
  }
  /// Frees a state; overwrites its memory first.
  static void free(HashState* state) noexcept {
    OPENSSL_cleanse(state, sizeof *state);
    delete state;
  }
};

#else

inline const char* crypto_version() noexcept { return OpenSSL_version(OPENSSL_VERSION_STRING); }

/// Directly calls the functions of the provider that libcrypto selects (provider-digest(7)).
class Sha256 {
 public:
  Sha256() {
    find();
    if (make_ == nullptr || init_ == nullptr || update_ == nullptr || final_ == nullptr || copy_ == nullptr ||
        free_ == nullptr) {
      throw Error(ErrorCode::internal, "libcrypto offers no SHA-256: check the OpenSSL installation");
    }
  }

  // Makes a new state; returns null if memory runs out.
  [[nodiscard]] HashStatePointer make() const noexcept {
    HashStatePointer state(static_cast<HashState*>(make_(context_)));
    if (state != nullptr && init_(state.get(), nullptr) != 1) state.reset();
    return state;
  }
  [[nodiscard]] HashStatePointer copy(const HashStatePointer& state) const noexcept {
    return HashStatePointer(static_cast<HashState*>(copy_(state.get())));
  }
  [[nodiscard]] bool update(const HashStatePointer& state, const void* data, std::size_t size) const noexcept {
    return update_(state.get(), static_cast<const unsigned char*>(data), size) == 1;
  }
  [[nodiscard]] bool final(const HashStatePointer& state, std::uint8_t* out) const noexcept {
    std::size_t size = 0;
    return final_(state.get(), out, &size, digest_size) == 1;
  }
  void free(HashState* state) const noexcept { free_(state); }  // the provider overwrites a state before freeing it

 private:
  // Whether one of the names of an algorithm is SHA2-256; `names` has all its names, separated by colons.
  static bool is_sha256(std::string_view names) noexcept {
    while (!names.empty()) {
      const auto end = std::min(names.find(':'), names.size());
      if (names.substr(0, end) == "SHA2-256") return true;
      names.remove_prefix(std::min(end + 1, names.size()));
    }
    return false;
  }

  void find() {
    md_ = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    if (md_ == nullptr) throw Error(ErrorCode::internal, "libcrypto offers no SHA-256: check the OpenSSL installation");
    const OSSL_PROVIDER* provider = EVP_MD_get0_provider(md_);
    int no_cache = 0;
    const OSSL_ALGORITHM* const all = OSSL_PROVIDER_query_operation(provider, OSSL_OP_DIGEST, &no_cache);
    for (const auto* algorithm = all; algorithm != nullptr && algorithm->algorithm_names != nullptr; ++algorithm) {
      if (is_sha256(algorithm->algorithm_names)) {
        read(algorithm->implementation);
        break;
      }
    }
    OSSL_PROVIDER_unquery_operation(provider, OSSL_OP_DIGEST, all);
    context_ = OSSL_PROVIDER_get0_provider_ctx(provider);
  }

  void read(const OSSL_DISPATCH* functions) noexcept {
    for (const auto* function = functions; function->function_id != 0; ++function) {
      switch (function->function_id) {
        case OSSL_FUNC_DIGEST_NEWCTX:
          make_ = OSSL_FUNC_digest_newctx(function);
          break;
        case OSSL_FUNC_DIGEST_INIT:
          init_ = OSSL_FUNC_digest_init(function);
          break;
        case OSSL_FUNC_DIGEST_UPDATE:
          update_ = OSSL_FUNC_digest_update(function);
          break;
        case OSSL_FUNC_DIGEST_FINAL:
          final_ = OSSL_FUNC_digest_final(function);
          break;
        case OSSL_FUNC_DIGEST_DUPCTX:
          copy_ = OSSL_FUNC_digest_dupctx(function);
          break;
        case OSSL_FUNC_DIGEST_FREECTX:
          free_ = OSSL_FUNC_digest_freectx(function);
          break;
        default:
          break;
      }
    }
  }

  const EVP_MD* md_ = nullptr;  // the SHA-256 in use; never freed, so that its provider stays loaded
  void* context_ = nullptr;
  OSSL_FUNC_digest_newctx_fn* make_ = nullptr;
  OSSL_FUNC_digest_init_fn* init_ = nullptr;
  OSSL_FUNC_digest_update_fn* update_ = nullptr;
  OSSL_FUNC_digest_final_fn* final_ = nullptr;
  OSSL_FUNC_digest_dupctx_fn* copy_ = nullptr;
  OSSL_FUNC_digest_freectx_fn* free_ = nullptr;
};

#endif

}  // namespace billcore::detail
