// find_charges(): which orders a charge of unknown outcome may have made.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "billcore/client.hpp"
#include "billcore/error.hpp"
#include "support/errors.hpp"
#include "support/server.hpp"

namespace billcore {
namespace {

using namespace std::chrono_literals;
using test::error_of;
using test::ScriptedServer;
using Texts = std::vector<std::string>;

constexpr std::chrono::microseconds second = 1s;
const Instant noon = parse_time("2025-04-25T12:00:00Z")->at;

Client client_of(const ScriptedServer& server) {
  ClientOptions options;
  options.base_url = server.url();
  options.api_key = "key_of_the_tests";
  options.max_retries = 0;
  options.concurrency = 8;
  return Client(options);
}

Error charge_error(std::string method, std::string path, std::optional<Instant> attempted_at,
                   bool outcome_unknown = true) {
  ErrorDetail detail;
  detail.method = std::move(method);
  detail.path = std::move(path);
  detail.attempted_at = attempted_at;
  detail.outcome_unknown = outcome_unknown;
  return {ErrorCode::outcome_unknown, "unknown", std::move(detail)};
}

std::string order(const std::string& id, const std::string& created_at) {
  return R"({"id":")" + id + R"(","created_at":")" + created_at + R"("})";
}

// Three pages, latest first.
std::string page(const std::string& head) {
  static const Texts pages{order("a", "2025-04-25T12:00:09Z") + "," + order("b", "2025-04-25T12:00:00Z"),
                           order("c", "2025-04-25T13:59:58+02:00") + "," + order("d", "2025-04-25T11:59:00Z"),
                           order("e", "2025-04-24T00:00:00Z")};
  const auto number = head.at(head.find("page=") + 5);
  return ScriptedServer::json("{\"data\":[" + pages.at(static_cast<std::size_t>(number - '1')) +
                              R"(],"pagination":{"total":5,"current_page":)" + number + R"(,"total_pages":3}})");
}

Texts ids(const std::vector<Order>& orders) {
  Texts out;
  for (const auto& one : orders) out.push_back(one.id().text());
  return out;
}

// Serves the pages and records the requested targets.
class Pages {
 public:
  [[nodiscard]] Texts targets() {
    const std::lock_guard lock(mutex_);
    return targets_;
  }
  [[nodiscard]] std::string answer(const std::string& head) {
    const std::lock_guard lock(mutex_);
    const auto begin = head.find(' ') + 1;
    targets_.push_back(head.substr(begin, head.find(' ', begin) - begin));
    return page(head);
  }

 private:
  std::mutex mutex_;
  Texts targets_;
};

TEST(FindCharges, GoesBackToTheSkewBeforeTheCharge) {
  Pages pages;
  ScriptedServer server([&pages](const std::string& head) { return pages.answer(head); });
  const auto client = client_of(server);
  const auto error = charge_error("POST", "/subscription/a%2Fb%20c/order", noon);
  EXPECT_EQ(ids(client.subscriptions().find_charges(error, 0us)), (Texts{"a", "b"}));
  const auto later = charge_error("POST", "/subscription/s/order", noon + second - 1us);
  EXPECT_EQ(ids(client.subscriptions().find_charges(later, 0us)), (Texts{"a", "b"}));
  EXPECT_EQ(ids(client.subscriptions().find_charges(error, 2s)), (Texts{"a", "b", "c"}));
  EXPECT_EQ(ids(client.subscriptions().find_charges(error)), (Texts{"a", "b", "c", "d"}));
  EXPECT_EQ(ids(client.subscriptions().find_charges(error, std::chrono::hours(100))).size(), 5U);
  const auto all = std::chrono::microseconds::max();
  EXPECT_EQ(
      client.subscriptions().find_charges(charge_error("POST", "/subscription/s/order", Instant(-second)), all).size(),
      5U);
  EXPECT_EQ(pages.targets().front(), "/acct/subscription/a%2Fb%20c/orders?page=1");
}

TEST(FindCharges, GoesBackToSince) {
  Pages pages;
  ScriptedServer server([&pages](const std::string& head) { return pages.answer(head); });
  const auto client = client_of(server);
  EXPECT_EQ(ids(client.subscriptions().find_charges("s", noon)), (Texts{"a", "b"}));
  EXPECT_EQ(pages.targets().size(), 2U) << "the pages after an older order are not requested";
  // The service's times may be whole seconds.
  EXPECT_EQ(ids(client.subscriptions().find_charges("s", noon + second - 1us)), (Texts{"a", "b"}));
  EXPECT_EQ(ids(client.subscriptions().find_charges("s", noon + second)), Texts{"a"});
  EXPECT_EQ(pages.targets().size(), 5U);
  EXPECT_EQ(client.subscriptions().find_charges("s", Instant::min()).size(), 5U);
  EXPECT_TRUE(client.subscriptions().find_charges("s", Instant::max()).empty());
}

TEST(FindCharges, OfAChargeThatWasCutOff) {
  ScriptedServer server([](const std::string& head) { return head.starts_with("POST") ? std::string() : page(head); });
  const auto client = client_of(server);
  const auto error = error_of([&] { (void)client.subscriptions().charge("s", {.product_id = 1, .amount = 5}); });
  ASSERT_EQ(error.code(), ErrorCode::outcome_unknown);
  EXPECT_TRUE(client.subscriptions().find_charges(error).empty());
  EXPECT_EQ(client.subscriptions().find_charges(error, std::chrono::hours(24 * 365 * 1000)).size(), 5U);
}

TEST(FindCharges, RefusesOtherErrors) {
  ScriptedServer server([](const std::string&) -> std::string { throw std::logic_error("nothing is to be sent"); });
  const auto client = client_of(server);
  const std::vector<std::pair<Error, const char*>> wrong{
      {charge_error("POST", "/subscription/s/cancel", noon), "not about a charge"},
      {charge_error("GET", "/subscription/s/order", noon), "not about a charge"},
      {charge_error("POST", "/subscription/a/b/order", noon), "not about a charge"},
      {charge_error("POST", "/subscription//order", noon), "not about a charge"},
      {charge_error("POST", "/subscription/order", noon), "not about a charge"},
      {charge_error("POST", "/subscription/%zz/order", noon), "not about a charge"},
      {charge_error("POST", "/subscription/%2e%2e/order", noon), "the id is a relative path segment"},
      {charge_error("POST", "/subscription/s/order", noon, false), "is known"},
      {charge_error("POST", "/subscription/s/order", std::nullopt), "does not say when"}};
  for (const auto& [error, words] : wrong) {
    const auto refused = error_of([&] { (void)client.subscriptions().find_charges(error); });
    EXPECT_EQ(refused.code(), ErrorCode::invalid_argument) << error.detail().path;
    EXPECT_NE(refused.message().find(words), std::string::npos) << refused.message();
  }
  const auto charge = charge_error("POST", "/subscription/s/order", noon);
  const auto negative = error_of([&] { (void)client.subscriptions().find_charges(charge, -1us); });
  EXPECT_EQ(negative.code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace billcore
