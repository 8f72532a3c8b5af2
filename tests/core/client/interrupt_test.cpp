// Tests ClientOptions::interrupt: the outcome of an interrupted call.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "billcore/client.hpp"
#include "support/errors.hpp"
#include "support/server.hpp"

namespace billcore {
namespace {

using namespace std::chrono_literals;
using test::Server;

// Whether a connection of this process to the port has received bytes that are not yet read.
bool has_arrived(int port) {
  for (int descriptor = 0; descriptor < 1024; ++descriptor) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) != 0 || peer.sin_family != AF_INET) continue;
    int bytes = 0;
    if (ntohs(peer.sin_port) == port && ioctl(descriptor, FIONREAD, &bytes) == 0 && bytes > 0) return true;
  }
  return false;
}

// Makes a write that is interrupted, and returns the error. The answer arrives while the interrupt callback runs.
Error interrupted_with(const std::string& answer) {
  std::atomic<bool> received{false};
  std::atomic<bool> asked{false};
  const Server server([&](const std::string& /*head*/) {
    received = true;
    while (!asked) std::this_thread::sleep_for(1ms);
    return answer;
  });
  auto options = server.options();
  options.interrupt = [&] {
    if (!received) return false;  // the client sends nothing while this function runs
    asked = true;
    while (!has_arrived(server.port())) std::this_thread::sleep_for(1ms);
    return true;
  };
  const Client client(options);
  return test::error_of([&] { client.subscriptions().charge("s", {.product_id = 1, .amount = 1}); });
}

TEST(Interrupt, TheErrorSaysWhatTheAnswerMeans) {
  const std::string subject = "POST /subscription/s/order: interrupted after ";
  const auto done = interrupted_with(Server::json(R"({"data":{"id":"o"}})"));
  EXPECT_EQ(done.code(), ErrorCode::interrupted);
  EXPECT_EQ(done.message(), subject + "the answer came: status 200, it was done (id o)");
  EXPECT_EQ(done.detail().http_status, 200);
  EXPECT_FALSE(done.detail().outcome_unknown);

  const auto junk = interrupted_with(Server::json("<html>"));
  EXPECT_EQ(junk.message(), subject + "the answer came: status 200, it was done");

  const auto refused = interrupted_with(Server::json("{}", 402));
  EXPECT_EQ(refused.message(), subject + "the answer came: status 402, it was refused");
  EXPECT_FALSE(refused.detail().outcome_unknown);

  for (const int status : {307, 408, 500, 504}) {
    const auto open = interrupted_with(Server::json("{}", status));
    EXPECT_EQ(open.message(), subject + "the answer came: status " + std::to_string(status) +
                                  ", it may or may not have happened: look before you send it again");
    EXPECT_EQ(open.detail().http_status, status);
    EXPECT_TRUE(open.detail().outcome_unknown);
    EXPECT_TRUE(open.detail().attempted_at);
  }

  const auto broken = interrupted_with("HTTP/1.1 200 X\r\nContent-Length: 50\r\n\r\n{");
  EXPECT_EQ(broken.code(), ErrorCode::interrupted);
  EXPECT_EQ(broken.message(), subject + "it was sent; it may or may not have happened: look before you send it again");
  EXPECT_TRUE(broken.detail().outcome_unknown);
}

}  // namespace
}  // namespace billcore
