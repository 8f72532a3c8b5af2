// Tests what a client refuses, its time-outs, and hooks that throw. tests/conformance tests what it sends and returns.
#include "billcore/client.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "billcore/error.hpp"
#include "support/attempts.hpp"
#include "support/errors.hpp"
#include "support/server.hpp"

namespace billcore {
namespace {

using test::error_of;
using test::Server;
using namespace std::chrono_literals;

const std::string order = R"({"data":{"id":"o"}})";

TEST(Client, ClosedIsConfigError) {
  const Server server([](const std::string&) { return Server::kept(order); });
  Client client(server.options());
  EXPECT_EQ(client.orders().get("o").id(), Id("o"));
  client.close();
  client.close();
  EXPECT_EQ(error_of([&] { (void)client.orders().get("o"); }).code(), ErrorCode::config);
  EXPECT_EQ(error_of([&] { (void)client.products().list(); }).code(), ErrorCode::config);
}

TEST(Client, PerCallTimeoutWins) {
  const Server server([](const std::string&) {
    std::this_thread::sleep_for(50ms);
    return Server::json(order);
  });
  auto options = server.options();
  options.timeout = 1ms;
  const Client client(options);
  EXPECT_EQ(client.orders().get("o", {.timeout = no_timeout}).id(), Id("o"));
  EXPECT_EQ(error_of([&] { (void)client.orders().get("o"); }).code(), ErrorCode::timeout);
  EXPECT_EQ(error_of([&] { (void)client.orders().get("o", {.timeout = 0ms}); }).code(), ErrorCode::invalid_argument);
}

TEST(Client, AThrowingInterruptHookDoesNotHideThatAWriteLeft) {
  test::Scene scene(test::silent);
  int requests = 1;  // the hook throws once the server has received this number of requests
  scene.options.interrupt = [&]() -> bool {
    if (scene.server.asked >= requests) throw std::runtime_error("enough");
    return false;
  };
  const auto client = scene.client();
  EXPECT_THROW((void)client.products().get(1), std::runtime_error);
  requests = 2;
  const auto write = error_of([&] { client.products().remove(1); });
  EXPECT_EQ(write.code(), ErrorCode::outcome_unknown);
  EXPECT_GT(write.detail().attempted_at, Instant());
}

TEST(Client, OptionsFromTheEnvironment) {
  const Server server([](const std::string& head) {
    EXPECT_NE(head.find("X-API-KEY: of_the_environment\r\n"), std::string::npos);
    return Server::json(order);
  });
  setenv("BILLCORE_BASE_URL", server.url().c_str(), 1);
  setenv("BILLCORE_API_KEY", "of_the_environment", 1);
  const Client client{ClientOptions()};
  unsetenv("BILLCORE_BASE_URL");
  unsetenv("BILLCORE_API_KEY");
  EXPECT_EQ(client.orders().get("o").id(), Id("o"));
}

TEST(Client, ABodyThatIsNotJsonIsRefused) {
  const Client client({.base_url = "https://api.example/acct", .api_key = "key"});
  EXPECT_EQ(error_of([&] { client.request("POST", "/a", {.json = "{"}); }).code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace billcore
