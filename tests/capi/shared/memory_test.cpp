// Lets each allocation of a call fail in turn: the call must return an error, leave its output empty and leak nothing.
// tests/torture does this for every function, but without AddressSanitizer. Written in C++ because only C++ can replace
// operator new. The tested interface is billcore.h. Also: no block that is freed holds a secret.
#include <billcore.h>
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

namespace {

long until_failure = -1;  // number of allocations that succeed before one fails; negative: none fails
bool failed = false;
long allocations = 0;
std::string_view sought;  // a secret; empty: no block is searched
long freed_with_it = 0;   // blocks

void* allocate(std::size_t size) noexcept {
  ++allocations;
  if (until_failure == 0) {
    failed = true;
    return nullptr;
  }
  if (until_failure > 0) --until_failure;
  return std::malloc(size == 0 ? 1 : size);
}

void release(void* pointer) noexcept {
  if (pointer != nullptr && !sought.empty()) {
    const std::string_view block(static_cast<const char*>(pointer), malloc_usable_size(pointer));
    if (block.find(sought) != std::string_view::npos) ++freed_with_it;
  }
  std::free(pointer);
}

}  // namespace

void* operator new(std::size_t size) {
  if (void* made = allocate(size)) return made;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new[](std::size_t size) { return operator new(size); }
void operator delete(void* pointer) noexcept { release(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { release(pointer); }
void operator delete[](void* pointer) noexcept { release(pointer); }
void operator delete[](void* pointer, std::size_t) noexcept { release(pointer); }

namespace {

void require(bool condition, const char* what, const char* why) {
  if (condition) return;
  std::fprintf(stderr, "%s: %s\n", what, why);
  std::exit(1);
}

/// Repeats `call(&err)` until no allocation fails; each time one more allocation succeeds than the time before. Each
/// call must return BILLCORE_ERROR_OUT_OF_MEMORY, or `in_the_end` when memory suffices.
template <typename Call>
void starve(const char* what, billcore_status in_the_end, Call call) {
  long failures = 0;
  for (long allowed = 0;; ++allowed) {
    billcore_error* err = nullptr;
    failed = false;
    until_failure = allowed;
    const billcore_status status = call(&err);
    until_failure = -1;
    require(billcore_error_status(err) == status, what, "the error has another status");
    if (status != BILLCORE_ERROR_OUT_OF_MEMORY) {
      require(status == in_the_end, what, billcore_error_message(err).data);
      billcore_error_free(err);
      if (!failed) break;
    } else {
      require(failed, what, "out of memory, though there was enough");
      require(std::strcmp(billcore_error_message(err).data, "out of memory") == 0, what, "another message");
      billcore_error_free(err);
      ++failures;
    }
  }
  require(failures > 0, what, "no allocation ever failed");
}

constexpr char body_text[] =
    R"({"id":1,"name":"order.paid","account":7,"data":{"id":"a rather long id, for the heap","total":1,"custom_fields":[{}]}})";

}  // namespace

int main() {
  const billcore_str body = billcore_str_from(body_text);
  const billcore_str secret = BILLCORE_STR("0123456789abcdef0123456789abcdef");
  billcore_buf signature{};
  require(billcore_webhook_sign(body, secret, &signature, nullptr) == BILLCORE_OK, "sign", "failed");
  const billcore_str signed_with{signature.data, signature.len};

  starve("unwrap", BILLCORE_OK, [&](billcore_error** err) {
    billcore_event* event = nullptr;
    const auto status = billcore_webhook_unwrap(body, signed_with, secret, &event, err);
    require((event != nullptr) == (status == BILLCORE_OK), "unwrap", "an output of a failed call");
    billcore_event_free(event);
    return status;
  });
  starve("a wrong signature", BILLCORE_ERROR_SIGNATURE,
         [&](billcore_error** err) { return billcore_webhook_verify(body, BILLCORE_STR("no"), secret, err); });
  int given = 0;
  int released = 0;
  starve("a clock and its context", BILLCORE_OK, [&](billcore_error** err) {
    billcore_verifier_options* options = nullptr;
    billcore_verifier* verifier = nullptr;
    auto status = billcore_verifier_options_new(&options, err);
    if (status == BILLCORE_OK) {
      ++given;
      const auto release = [](void* context) { ++*static_cast<int*>(context); };
      const auto clock = [](void*) { return int64_t{0}; };
      status = billcore_verifier_options_set_clock(options, clock, &released, release, err);
    }
    if (status == BILLCORE_OK) status = billcore_verifier_new(secret, options, &verifier, err);
    billcore_verifier_options_free(options);
    require((verifier != nullptr) == (status == BILLCORE_OK), "a clock", "an output of a failed call");
    require(released == given - (verifier == nullptr ? 0 : 1), "a clock", "its context was not released once");
    billcore_verifier_free(verifier);
    require(released == given, "a clock", "its context was not released once");
    return status;
  });
  // core/webhook/secrets_test.cpp looks for the secrets of a C++ verifier; here are those of the options in C.
  sought = "0123456789abcdef0123456789abcdef";
  billcore_verifier_options* several = nullptr;
  require(billcore_verifier_options_new(&several, nullptr) == BILLCORE_OK, "secrets", "failed");
  for (int i = 0; i < 5; ++i) {
    require(billcore_verifier_options_add_secret(several, secret, nullptr) == BILLCORE_OK, "secrets", "failed");
  }
  billcore_verifier_options_free(several);
  require(freed_with_it == 0, "secrets", "a block that was freed holds a secret");
  // Verifying a right signature does not call operator new. (libcrypto's own allocations do not use operator new.)
  billcore_verifier* verifier = nullptr;
  require(billcore_verifier_new(secret, nullptr, &verifier, nullptr) == BILLCORE_OK, "verifier", "failed");
  for (int i = 0; i < 3; ++i) {
    const long before = allocations;
    require(billcore_verifier_verify(verifier, body, signed_with, nullptr, nullptr) == BILLCORE_OK, "verify", "failed");
    require(allocations == before, "verify", "it allocates");
  }
  billcore_verifier_free(verifier);
  billcore_buf_free(&signature);
  return 0;
}
