// Tests CallOptions::cancel: a stop is requested before a call, during a call, or while a list is read.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stop_token>
#include <string>
#include <thread>

#include "billcore/async_client.hpp"
#include "billcore/client.hpp"
#include "support/server.hpp"

namespace billcore {
namespace {

using namespace std::chrono_literals;
using test::ScriptedServer;

Client client_of(const ScriptedServer& server) {
  ClientOptions options;
  options.base_url = server.url();
  options.api_key = "key";
  options.timeout = no_timeout;
  return Client(options);
}

template <typename Call>
Error error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {ErrorCode::ok, ""};
}

TEST(Cancel, EndsACallThatWaits) {
  std::stop_source stop;
  std::atomic<bool> ended{false};
  const ScriptedServer server([&](const std::string& /*head*/) {
    stop.request_stop();
    while (!ended) std::this_thread::sleep_for(1ms);
    return ScriptedServer::json("{}");
  });
  const auto client = client_of(server);
  const auto error = error_of(
      [&] { client.subscriptions().charge("s", {.product_id = 1, .amount = 1}, {.cancel = stop.get_token()}); });
  ended = true;
  EXPECT_EQ(error.code(), ErrorCode::interrupted);
  EXPECT_TRUE(error.detail().outcome_unknown);
  EXPECT_TRUE(error.detail().attempted_at);
  EXPECT_EQ(error.detail().http_status, 0);
}

TEST(Cancel, RequestedBeforeNothingIsSent) {
  std::atomic<int> requests{0};
  const ScriptedServer server([&](const std::string& /*head*/) {
    ++requests;
    return ScriptedServer::json(R"({"data":{"id":"o"}})");
  });
  std::stop_source stop;
  stop.request_stop();
  const auto client = client_of(server);
  const CallOptions cancelled{.cancel = stop.get_token()};
  const auto charge = error_of([&] { client.subscriptions().charge("s", {.product_id = 1, .amount = 1}, cancelled); });
  EXPECT_EQ(charge.code(), ErrorCode::interrupted);
  EXPECT_FALSE(charge.detail().outcome_unknown);
  EXPECT_EQ(charge.message(), "POST /subscription/s/order: interrupted");
  auto list = client.products().list({}, cancelled);
  EXPECT_EQ(error_of([&] { static_cast<void>(list.next()); }).code(), ErrorCode::interrupted);
  EXPECT_EQ(requests, 0);
  EXPECT_EQ(client.orders().get("o").id().text(), "o");
}

// A stop request ends the request for page 2; the list has already yielded the items of page 1.
TEST(Cancel, EndsAListAtAPage) {
  std::stop_source stop;
  std::atomic<bool> ended{false};
  const ScriptedServer server([&](const std::string& head) {
    if (head.find("page=2") != std::string::npos) {
      stop.request_stop();
      while (!ended) std::this_thread::sleep_for(1ms);
    }
    return ScriptedServer::json(R"({"data":[{"id":"a"},{"id":"b"}],"pagination":{"total":4,"count":2,"per_page":2,)"
                                R"("current_page":1,"total_pages":2,"links":{"next":null,"previous":null}}})");
  });
  const auto client = client_of(server);
  auto orders = client.subscriptions().orders("s", {}, {.cancel = stop.get_token()});
  EXPECT_EQ(orders.next()->id().text(), "a");
  EXPECT_EQ(orders.next()->id().text(), "b");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(error_of([&] { static_cast<void>(orders.next()); }).code(), ErrorCode::interrupted);
  }
  ended = true;
}

TEST(Cancel, AnAsyncClientTakesNoToken) {
  const ScriptedServer server([](const std::string& /*head*/) { return ScriptedServer::json("{}"); });
  const auto client = client_of(server);
  AsyncClient loop(client);
  const std::stop_source stop;
  const auto error = error_of([&] {
    static_cast<void>(loop.start(operations::orders::get("o"), {.cancel = stop.get_token()}, [](Completed&) {}));
  });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(loop.running(), 0U);
}

}  // namespace
}  // namespace billcore
