// Tests that a lack of memory is not reported as headers that are too large. This is a separate program, because it
// replaces libcurl's allocator.
#include <curl/curl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

#include "billcore/client.hpp"
#include "support/errors.hpp"
#include "support/server.hpp"

namespace {

// libcurl's allocations of this size or more fail.
std::atomic<std::size_t> refused{SIZE_MAX};

void* allocate(std::size_t size) { return size < refused ? std::malloc(size) : nullptr; }
void* reallocate(void* block, std::size_t size) { return size < refused ? std::realloc(block, size) : nullptr; }
void* allocate_many(std::size_t count, std::size_t size) {
  return size == 0 || count < refused / size ? std::calloc(count, size) : nullptr;
}
char* duplicate(const char* text) {
  auto* copy = static_cast<char*>(allocate(std::strlen(text) + 1));
  return copy == nullptr ? nullptr : std::strcpy(copy, text);
}

using namespace billcore;

// Answers with a header of 8 KiB, for which libcurl has no memory, and a body of 1 MB. The client receives so much data
// that it could mistake the lack of memory for headers that are too large.
class OutOfMemory : public testing::Test {
 protected:
  ~OutOfMemory() override { refused = SIZE_MAX; }
  const test::Server server{[](const std::string&) {
    refused = 8192;
    return test::Server::json(std::string(1'000'000, ' '), 200, "X: " + std::string(8192, 'x') + "\r\n");
  }};
};

TEST_F(OutOfMemory, OfAReadIsBadAlloc) {
  const Client client(server.options());
  EXPECT_THROW((void)client.orders().get(Id("o")), std::bad_alloc);
}

TEST_F(OutOfMemory, OfAWriteThatWasSentLeavesItsOutcomeUnknown) {
  const Client client(server.options());
  const auto error = test::error_of([&] { (void)client.subscriptions().cancel(Id("s")); });
  EXPECT_EQ(error.code(), ErrorCode::outcome_unknown) << error.what();
  EXPECT_EQ(error.detail().cause, ErrorCode::out_of_memory) << error.what();
}

}  // namespace

int main(int argc, char** argv) {
  if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, &allocate, &std::free, &reallocate, &duplicate, &allocate_many) != 0) {
    return 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
