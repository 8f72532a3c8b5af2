// Tests that no freed memory holds a secret. The test's allocators search every block of libcrypto and of operator
// new when the block is freed, and at the end of the program all blocks in use. The allocators search for the
// secrets, the states that HMAC derives from the secrets, and the right MAC of a message that was refused. This is a
// separate program, because it replaces the allocators. The stack is not checked.
#include <gtest/gtest.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <tuple>

#include "billcore/error.hpp"
#include "billcore/webhook.hpp"

namespace {

// ---- The checking allocators ----------------------------------------------------------------------------------------

constexpr std::size_t longest = 64;

// A byte pattern that must not remain in memory. A plain array, because the list of patterns must not allocate.
struct Pattern {
  const char* name;
  std::array<unsigned char, longest> bytes;
  std::size_t size;
};
std::array<Pattern, 64> patterns;
std::size_t pattern_count = 0;

std::size_t found_count = 0;
std::array<const char*, 16> found_names;  // names of the first patterns that were found

void look_through(const void* memory, std::size_t size) {
  const std::string_view block(static_cast<const char*>(memory), size);
  for (std::size_t i = 0; i < pattern_count; ++i) {
    const auto& pattern = patterns[i];
    if (block.find({reinterpret_cast<const char*>(pattern.bytes.data()), pattern.size}) == std::string_view::npos)
      continue;
    if (found_count < found_names.size()) found_names[found_count] = pattern.name;
    ++found_count;
  }
}

// Precedes every block and links it with the other blocks in use, so that the test can search all of them.
struct alignas(std::max_align_t) Header {
  Header* before;
  Header* behind;
  std::size_t size;
};
std::mutex guard;
Header* newest = nullptr;

void* allocate(std::size_t size) noexcept {
  void* memory = std::calloc(1, sizeof(Header) + size);  // without the bytes that an earlier block left in this memory
  if (memory == nullptr) return nullptr;
  const std::lock_guard lock(guard);
  auto* header = new (memory) Header{nullptr, newest, size};
  if (newest != nullptr) newest->before = header;
  newest = header;
  return header + 1;
}

void release(void* block) noexcept {
  if (block == nullptr) return;
  Header* header = static_cast<Header*>(block) - 1;
  {
    const std::lock_guard lock(guard);
    look_through(block, header->size);
    (header->before != nullptr ? header->before->behind : newest) = header->behind;
    if (header->behind != nullptr) header->behind->before = header->before;
  }
  std::free(header);
}

void look_through_held_blocks() {
  const std::lock_guard lock(guard);
  for (const Header* header = newest; header != nullptr; header = header->behind)
    look_through(header + 1, header->size);
}

void* crypto_malloc(std::size_t size, const char*, int) { return allocate(size); }
void crypto_free(void* block, const char*, int) { release(block); }
void* crypto_realloc(void* block, std::size_t size, const char*, int) {
  void* moved = allocate(size);
  if (moved == nullptr || block == nullptr) return moved;
  std::memcpy(moved, block, std::min(size, (static_cast<Header*>(block) - 1)->size));
  release(block);
  return moved;
}

}  // namespace

void* operator new(std::size_t size) {
  if (void* block = allocate(size)) return block;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new[](std::size_t size) { return operator new(size); }
void operator delete(void* block) noexcept { release(block); }
void operator delete(void* block, std::size_t) noexcept { release(block); }
void operator delete[](void* block) noexcept { release(block); }
void operator delete[](void* block, std::size_t) noexcept { release(block); }

namespace billcore {
namespace {

// ---- The patterns ---------------------------------------------------------------------------------------------------

// The secrets are string literals, so the originals are never in a freed block.
constexpr std::array<std::string_view, 3> secrets{
    "first-Hd5^Lc8@Jf3-9$Yb2*Rt4&Wm1!", "second-Kq7#zV1x!Wm4&Rt9$Yb2*Hd5^", "third-0123456789abcdefghijklmnop"};
static_assert(std::all_of(secrets.begin(), secrets.end(), [](std::string_view secret) { return secret.size() == 32; }));
constexpr std::string_view long_secret =
    "a secret of more than one block, as no service of ours issues it, but test vectors and foreign keys do: "
    "9$Yb2*Rt4&Wm";
constexpr std::string_view body = R"({"id":90210,"name":"test.hook","account":17,"data":null})";
constexpr std::string_view refused_body = R"({"id":90211,"name":"test.hook","account":17,"data":null})";

void look_for(const char* name, const void* bytes, std::size_t size) {
  ASSERT_LT(pattern_count, patterns.size());
  auto& pattern = patterns[pattern_count];
  pattern.name = name;
  pattern.size = std::min(size, longest);
  std::memcpy(pattern.bytes.data(), bytes, pattern.size);
  ++pattern_count;
}

// The inner and the outer HMAC state are as secret as the key. Only deprecated functions of libcrypto give access to
// the HMAC states.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
void look_for_state(const char* name, const std::array<unsigned char, 64>& block) {
  SHA256_CTX state;
  SHA256_Init(&state);
  SHA256_Update(&state, block.data(), block.size());
  look_for(name, state.h, sizeof state.h);
}
#pragma GCC diagnostic pop

void look_for_secret(std::string_view secret) {
  std::array<unsigned char, 64> block{};
  if (secret.size() > block.size()) {
    SHA256(reinterpret_cast<const unsigned char*>(secret.data()), secret.size(), block.data());
    look_for("the hash of a long secret", block.data(), SHA256_DIGEST_LENGTH);
  } else {
    std::memcpy(block.data(), secret.data(), secret.size());
  }
  look_for("the beginning of a secret", secret.data(), 16);
  look_for("the end of a secret", secret.data() + secret.size() - 16, 16);
  for (const auto& [pad, padded, state] : {std::tuple{0x36, "a secret for the inner hash", "the inner hash state"},
                                           std::tuple{0x5c, "a secret for the outer hash", "the outer hash state"}}) {
    auto changed = block;
    for (auto& byte : changed) byte = static_cast<unsigned char>(byte ^ static_cast<unsigned>(pad));
    look_for(padded, changed.data(), 16);
    look_for_state(state, changed);
  }
}

void look_for_mac(std::string_view message, std::string_view secret) {
  std::array<unsigned char, 32> mac{};
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(message.data()), message.size(), mac.data(), nullptr);
  look_for("the right MAC of a refused message", mac.data(), mac.size());
  std::array<char, 65> hex{};
  for (std::size_t i = 0; i < mac.size(); ++i) {
    std::snprintf(hex.data() + 2 * i, 3, "%02x", static_cast<unsigned>(mac[i]));
  }
  look_for("the right signature of a refused message", hex.data(), 64);
}

class Secrets : public testing::Test {
 protected:
  void SetUp() override {
    pattern_count = 0;
    for (const auto secret : secrets) {
      look_for_secret(secret);
      look_for_mac(refused_body, secret);
    }
    look_for_secret(long_secret);
    look_for_mac(refused_body, long_secret);
    found_count = 0;
  }
  void TearDown() override { pattern_count = 0; }

  static void expect_nothing_left() {
    look_through_held_blocks();
    for (std::size_t i = 0; i < std::min(found_count, found_names.size()); ++i) ADD_FAILURE() << found_names[i];
    EXPECT_EQ(found_count, 0U);
  }
};

void refuse(const Verifier& verifier) {
  constexpr std::string_view wrong = "0000000000000000000000000000000000000000000000000000000000000000";
  EXPECT_EQ(verifier.check(refused_body, wrong), SignatureReason::mismatch);
  EXPECT_THROW(static_cast<void>(verifier.verify(refused_body, wrong)), Error);
  EXPECT_THROW(static_cast<void>(verifier.unwrap(refused_body, wrong)), Error);
  EXPECT_THROW(static_cast<void>(verifier.unwrap(refused_body, "sha256=")), Error);
  auto stream = verifier.stream();
  stream.update(refused_body.substr(0, 10));
  stream.update(refused_body.substr(10));
  EXPECT_THROW(static_cast<void>(stream.finish(wrong)), Error);
  auto unfinished = verifier.stream();
  unfinished.update(refused_body);
}

void accept(const Verifier& verifier, std::string_view secret) {
  const auto signature = webhooks::sign(body, secret);
  EXPECT_EQ(verifier.unwrap(body, signature).raw(), body);
  auto stream = verifier.stream();
  stream.update(body);
  EXPECT_LT(stream.finish(signature), verifier.secret_count());
}

TEST_F(Secrets, NoneIsLeftByAVerifier) {
  {
    const Verifier verifier(std::span<const std::string_view>(secrets), VerifierOptions{});
    for (const auto secret : secrets) accept(verifier, secret);
    refuse(verifier);
    const Verifier copy = verifier;  // NOLINT(performance-unnecessary-copy-initialization)
    refuse(copy);
    EXPECT_EQ(verifier.matches().size(), secrets.size());
  }
  expect_nothing_left();
}

TEST_F(Secrets, NoneIsLeftByALongSecret) {
  {
    const std::array<std::string_view, 2> mixed{long_secret, secrets[1]};
    const auto verifier = Verifier::allowing_any_key_length(mixed);
    accept(verifier, secrets[1]);
    refuse(verifier);
  }
  expect_nothing_left();
}

TEST_F(Secrets, NoneIsLeftByAVerifierForAccounts) {
  {
    const std::vector<AccountSecrets> accounts{{"7", {secrets[0]}}, {"8", {secrets[1], secrets[2]}}};
    const auto verifier = Verifier::for_accounts(accounts);
    constexpr std::string_view paid = R"({"name":"order.paid","account":7})";
    const auto signature = webhooks::sign(paid, secrets[0]);
    EXPECT_EQ(verifier.unwrap(paid, signature).raw(), paid);
    EXPECT_EQ(verifier.check(paid, signature), SignatureReason::mismatch);  // check() does not see the account
    EXPECT_THROW(static_cast<void>(verifier.unwrap(paid, webhooks::sign(paid, secrets[1]))), Error);
  }
  expect_nothing_left();
}

TEST_F(Secrets, NoneIsLeftByRefusedOrOneShotVerifiers) {
  const std::array<std::string_view, 3> one_is_empty{secrets[0], "", long_secret};
  EXPECT_THROW(static_cast<void>(Verifier::allowing_any_key_length(one_is_empty)), Error);
  EXPECT_THROW(static_cast<void>(Verifier{long_secret}), Error);
  const auto signature = webhooks::sign(body, secrets[0]);
  EXPECT_EQ(webhooks::unwrap(body, signature, secrets[0]).raw(), body);
  EXPECT_THROW(static_cast<void>(webhooks::verify(refused_body, signature, secrets[0])), Error);
  expect_nothing_left();
}

TEST_F(Secrets, NoneIsLeftByAnExplanation) {
  const auto signature = webhooks::sign(body, secrets[1]);
  EXPECT_FALSE(webhooks::explain(refused_body, signature, secrets).empty());
  EXPECT_FALSE(webhooks::explain(refused_body, std::nullopt, secrets[0]).empty());
  EXPECT_FALSE(webhooks::explain(refused_body, "sha256=" + signature, long_secret).empty());
  expect_nothing_left();
}

TEST_F(Secrets, TheSearchFindsPlantedSecrets) {
  void* block = OPENSSL_malloc(100);
  std::memcpy(static_cast<char*>(block) + 3, secrets[0].data(), secrets[0].size());
  OPENSSL_free(OPENSSL_realloc(block, 1000));
  EXPECT_EQ(found_count, 4U) << "the beginning and the end, in the old block and in the new one";
  {
    const std::string copy(secrets[1]);
    __asm__ volatile("" : : "r"(copy.data()) : "memory");  // so that the compiler does not remove the copy
  }
  EXPECT_EQ(found_count, 6U);
  const Verifier held(secrets[0]);
  found_count = 0;
  look_through_held_blocks();
  EXPECT_EQ(found_count, 2U) << "the inner and the outer state";
}

}  // namespace
}  // namespace billcore

int main(int argc, char** argv) {
  if (CRYPTO_set_mem_functions(crypto_malloc, crypto_realloc, crypto_free) != 1) {
    std::fprintf(stderr, "secrets-test: libcrypto was used before its memory could be watched\n");
    return 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
