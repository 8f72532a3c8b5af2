// Runs under valgrind's memcheck, with the secrets marked as undefined memory: memcheck then reports every branch and
// every address that depends on a secret. The index of the matching key is marked as defined, because the caller learns
// the index anyway.
//
//   constant-time-test CASE     without CASE: lists the cases. The case leak-memcmp leaks a secret, to test memcheck.
#include <valgrind/memcheck.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "webhook/hmac.hpp"

namespace {

using billcore::detail::Digest;
using billcore::detail::HmacKeys;
using billcore::detail::HmacStream;

constexpr std::string_view message = R"({"id":90210,"name":"test.hook","account":17,"data":null})";

void poison(std::string& secret) { static_cast<void>(VALGRIND_MAKE_MEM_UNDEFINED(secret.data(), secret.size())); }

void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "constant-time-test: %s\n", what);
  std::exit(1);
}

template <typename T>
bool is_secret(const T& value) {
  std::array<char, sizeof value> undefined{};
  static_cast<void>(VALGRIND_GET_VBITS(&value, undefined.data(), undefined.size()));
  return std::any_of(undefined.begin(), undefined.end(), [](char bits) { return bits != 0; });
}

// Checks that a result depends on a secret, then marks the result as defined, because the caller may learn this result.
template <typename T>
T published(T value) {
  expect(is_secret(value), "the secrets took part in the result");
  static_cast<void>(VALGRIND_MAKE_MEM_DEFINED(&value, sizeof value));
  return value;
}

// Returns different secrets of `length` bytes. The tests use two lengths, because HMAC first hashes a key that is
// longer than a block.
std::vector<std::string> make_secrets(std::size_t count, std::size_t length) {
  std::vector<std::string> secrets;
  for (std::size_t i = 0; i < count; ++i) {
    std::string secret(length, 'k');
    for (std::size_t at = 0; at < length; ++at) secret[at] = static_cast<char>('!' + (at * 7 + i * 11) % 90);
    secrets.push_back(std::move(secret));
  }
  return secrets;
}

std::vector<std::string_view> views(const std::vector<std::string>& secrets) {
  return {secrets.begin(), secrets.end()};
}

// Returns the right digest of the message. Must be called before the secret is marked as undefined.
Digest right_digest(const std::string& secret) {
  const std::string_view one = secret;
  Digest digest;
  expect(HmacKeys({&one, 1}).digest(0, message, digest), "a digest is computed");
  return digest;
}

/// Tests HmacKeys with one to four secrets of `length` bytes. The claimed digest is in turn the right digest for each
/// secret, then a digest that matches no secret.
void match_each(std::size_t length) {
  for (std::size_t count = 1; count <= 4; ++count) {
    for (std::size_t right = 0; right <= count; ++right) {
      auto secrets = make_secrets(count, length);
      Digest claimed{};
      if (right < count) claimed = right_digest(secrets[right]);
      std::for_each(secrets.begin(), secrets.end(), poison);

      const HmacKeys keys(views(secrets));
      expect(published(keys.match(message, claimed)) == right, "the right key matches");
      // The second match() uses the working states that the first match() left.
      expect(published(keys.match(message, claimed)) == right, "the right key matches");

      HmacStream stream(keys);
      stream.update(message.substr(0, 5));
      stream.update(message.substr(5));
      expect(published(stream.match(claimed)) == right, "the right key matches a stream");
    }
  }
}

// The claimed digest differs from the right one in one byte, at each position in turn.
void nearly_right() {
  for (std::size_t at = 0; at < billcore::detail::digest_size; ++at) {
    auto secrets = make_secrets(2, 32);
    Digest claimed = right_digest(secrets[1]);
    claimed[at] ^= 1U;
    std::for_each(secrets.begin(), secrets.end(), poison);
    const HmacKeys keys(views(secrets));
    expect(published(keys.match(message, claimed)) == keys.size(), "a digest that is nearly right does not match");
  }
}

void equal() {
  auto secrets = make_secrets(1, 32);
  const Digest claimed = right_digest(secrets[0]);
  poison(secrets[0]);
  const HmacKeys keys(views(secrets));
  Digest computed;
  expect(keys.digest(0, message, computed), "a digest is computed");
  expect(!is_secret(claimed) && is_secret(computed), "the claimed digest is not a secret");
  expect(published(billcore::detail::equal_digests(computed, claimed)), "equal digests are equal");
}

// A wrong implementation, which memcheck must report.
void leak_memcmp() {
  auto secrets = make_secrets(1, 32);
  const Digest claimed = right_digest(secrets[0]);
  poison(secrets[0]);
  Digest computed;
  expect(HmacKeys(views(secrets)).digest(0, "another message", computed), "a digest is computed");
  expect(std::memcmp(computed.data(), claimed.data(), claimed.size()) != 0, "they differ");
}

const std::vector<std::pair<std::string_view, std::function<void()>>> cases{
    {"match-32", [] { match_each(32); }},   {"match-1", [] { match_each(1); }}, {"match-64", [] { match_each(64); }},
    {"match-200", [] { match_each(200); }}, {"nearly-right", nearly_right},     {"equal-digests", equal},
    {"leak-memcmp", leak_memcmp},
};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& [name, run] : cases) {
    if (argc < 2) std::printf("%s\n", std::string(name).c_str());
    if (argc < 2 || name != argv[1]) continue;
    if (RUNNING_ON_VALGRIND == 0) {
      std::fprintf(stderr, "constant-time-test: proves nothing without valgrind\n");
      return 2;
    }
    run();
    return 0;
  }
  return argc < 2 ? 0 : 2;
}
