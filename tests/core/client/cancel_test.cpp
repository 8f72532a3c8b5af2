// Tests CallOptions::cancel: a stop is requested before a call, or while a list is read. During a call:
// call/attempts_test.cpp.
#include <gtest/gtest.h>

#include <atomic>
#include <stop_token>
#include <string>

#include "billcore/async_client.hpp"
#include "billcore/client.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"
#include "support/server.hpp"

namespace billcore {
namespace {

using test::error_of;
using test::Server;

TEST(Cancel, RequestedBeforeNothingIsSent) {
  std::atomic<int> requests{0};
  const Server server([&](const std::string& /*head*/) {
    ++requests;
    return Server::json(R"({"data":{"id":"o"}})");
  });
  std::stop_source stop;
  stop.request_stop();
  const Client client(server.options());
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
  const Server server([&](const std::string& head) -> std::string {
    if (head.find("page=1") != std::string::npos) return Server::kept(test::page_text({{"1", "2"}, 1, 2, 4}));
    stop.request_stop();
    return "+";
  });
  const Client client(server.options());
  auto orders = client.subscriptions().orders("s", {}, {.cancel = stop.get_token()});
  EXPECT_EQ(orders.next()->id().text(), "1");
  EXPECT_EQ(orders.next()->id().text(), "2");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(error_of([&] { static_cast<void>(orders.next()); }).code(), ErrorCode::interrupted);
  }
}

TEST(Cancel, AnAsyncClientTakesNoToken) {
  const Server server([](const std::string& /*head*/) { return Server::json("{}"); });
  const Client client(server.options());
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
