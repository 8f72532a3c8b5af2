// Tests that a lack of memory is not reported as headers that are too large. This is a separate program, because it
// replaces libcurl's allocator.
#include <curl/curl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "billcore/client.hpp"
#include "http/engine.hpp"
#include "support/listener.hpp"

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
using namespace billcore::detail;

// Answers one request with a header of 8 KiB, for which libcurl has no memory, and a body of 1 MB. The client
// receives so much data that it could mistake the lack of memory for headers that are too large.
class Server {
 public:
  Server()
      : thread_([this] {
          const int accepted = listener.accept_one();
          std::array<char, 4096> request{};
          EXPECT_GT(read(accepted, request.data(), request.size()), 0);
          refused = 8192;
          const auto answer = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\nX: " + std::string(8192, 'x') +
                              "\r\n\r\n" + std::string(1'000'000, ' ');
          static_cast<void>(send(accepted, answer.data(), answer.size(), MSG_NOSIGNAL));
          close(accepted);
        }) {}
  ~Server() {
    thread_.join();
    refused = SIZE_MAX;
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  test::Listener listener;

 private:
  std::thread thread_;
};

TEST(OutOfMemory, IsNotReportedAsATooLargeHeader) {
  const Server server;
  Engine engine({});
  std::optional<Transfer> outcome;
  auto headers = std::make_shared<RequestHeaders>(std::vector<std::string>{});
  engine.start({"GET", server.listener.url("/"), {}, SteadyClock::now() + std::chrono::seconds(20), std::move(headers)},
               [&outcome](Transfer&& transfer) { outcome = std::move(transfer); });
  EXPECT_TRUE(engine.drive([&outcome] { return outcome.has_value(); }, {}));
  EXPECT_EQ(outcome->failure, Failure::memory) << outcome->reason;
}

ClientOptions options_for(const Server& server) {
  ClientOptions options;
  options.base_url = server.listener.url("/acct");
  options.api_key = "key";
  return options;
}

TEST(OutOfMemory, OfAReadIsBadAlloc) {
  const Server server;
  const Client client(options_for(server));
  EXPECT_THROW((void)client.orders().get(Id("o")), std::bad_alloc);
}

TEST(OutOfMemory, OfAWriteThatWasSentLeavesItsOutcomeUnknown) {
  const Server server;
  const Client client(options_for(server));
  try {
    (void)client.subscriptions().cancel(Id("s"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::outcome_unknown) << error.what();
    EXPECT_EQ(error.detail().cause, ErrorCode::out_of_memory) << error.what();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, &allocate, &std::free, &reallocate, &duplicate, &allocate_many) != 0) {
    return 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
