// Tests the time-out of a call, and options from the environment. tests/conformance tests what it sends and returns.
#include "billcore/client.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "billcore/error.hpp"
#include "support/errors.hpp"
#include "support/server.hpp"

namespace billcore {
namespace {

using test::error_of;
using test::Server;
using namespace std::chrono_literals;

const std::string order = R"({"data":{"id":"o"}})";

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
