// What the write guard is for: a reused connection that dies unanswered, counted by the sandbox.
#include "transport.hpp"

#include <gtest/gtest.h>

#include "support/json_text.hpp"
#include "support/server.hpp"

namespace billcore::detail {
namespace {

using test::Sandbox;

Transfer run(Engine& engine, const std::string& method, const std::string& url, std::optional<std::string> body = {}) {
  std::optional<Transfer> result;
  engine.start({method, url, std::move(body), Clock::now() + std::chrono::seconds(20)},
               [&result](Transfer&& transfer) { result = std::move(transfer); });
  EXPECT_TRUE(engine.drive([&result] { return result.has_value(); }, {}));
  return *std::move(result);
}

struct Write {
  const char* name;
  const char* method;
  std::string path;
  std::optional<std::string> body;
};

std::vector<Write> all_writes(const Sandbox& sandbox) {
  auto pager = sandbox.client().subscriptions().list({"demo-active", 1});
  const auto id = pager.first()->id().text();
  const auto product = std::to_string(sandbox.client().products().list().first()->id());
  return {{"cancel", "POST", "/subscription/" + id + "/cancel", std::nullopt},
          {"change_product", "POST", "/subscription/" + id + "/product", R"({"product_id":)" + product + "}"},
          {"charge", "POST", "/subscription/" + id + "/order", R"({"amount":100,"product_id":)" + product + "}"},
          {"update", "POST", "/product/" + product, R"({"name":"x"})"},
          {"delete", "DELETE", "/product/" + product, std::nullopt},
          {"endpoint", "POST", "/webhooks/endpoints", R"({"url":"http://127.0.0.1:9/hook"})"}};
}

// Sends a write over a connection that has been used before and is reset as soon as the request has arrived.
int received_over_dying_connection(bool guard, const Write& write, Transfer& outcome) {
  auto& sandbox = Sandbox::fresh();
  sandbox.fault(R"({"kind":"reset_before","method":")" + std::string(write.method) + "\",\"times\":5}");
  TransportOptions options;
  options.headers = {"X-API-KEY: " + sandbox.api_key()};
  options.write_guard = guard;
  Engine engine(options);
  EXPECT_EQ(run(engine, "GET", sandbox.base_url() + "/products?page=1").status, 200);
  outcome = run(engine, write.method, sandbox.base_url() + write.path, write.body);
  return sandbox.received(write.method);
}

TEST(WriteGuard, EveryWriteIsReceivedOnceOverADyingConnection) {
  for (const auto& write : all_writes(Sandbox::fresh())) {
    Transfer outcome;
    EXPECT_EQ(received_over_dying_connection(true, write, outcome), 1) << write.name;
    EXPECT_EQ(outcome.failure, Failure::reset) << write.name;
    EXPECT_TRUE(outcome.sent) << write.name;
    EXPECT_GT(outcome.sent_at, 0) << write.name;
  }
}

TEST(WriteGuard, WithoutItLibcurlSendsTwice) {
  for (const auto& write : all_writes(Sandbox::fresh())) {
    Transfer outcome;
    EXPECT_EQ(received_over_dying_connection(false, write, outcome), 2) << write.name;
  }
}

TEST(Engine, ConnectionIsKeptAndSeveralOperationsRunAtOnce) {
  auto& sandbox = Sandbox::fresh();
  TransportOptions options;
  options.headers = {"X-API-KEY: " + sandbox.api_key()};
  Engine engine(options);
  int done = 0;
  for (int i = 0; i < 8; ++i) {
    engine.start({"GET", sandbox.base_url() + "/products?page=1", {}, {}}, [&done](Transfer&& transfer) {
      EXPECT_EQ(transfer.status, 200);
      ++done;
    });
  }
  EXPECT_TRUE(engine.drive([&done] { return done == 8; }, {}));
}

TEST(Engine, CancelSaysWhetherTheRequestHadLeft) {
  auto& sandbox = Sandbox::fresh();
  sandbox.fault(R"({"kind":"delay","delay":3,"times":1})");
  TransportOptions options;
  options.headers = {"X-API-KEY: " + sandbox.api_key()};
  Engine engine(options);
  bool called = false;
  auto* operation =
      engine.start({"GET", sandbox.base_url() + "/products", {}, {}}, [&called](Transfer&&) { called = true; });
  std::int64_t sent_at = 0;
  EXPECT_FALSE(engine.cancel(operation, &sent_at));  // not driven yet: nothing left
  operation = engine.start({"GET", sandbox.base_url() + "/products", {}, {}}, [&called](Transfer&&) { called = true; });
  const auto begun = Clock::now();
  EXPECT_FALSE(
      engine.drive([] { return false; }, [&] { return Clock::now() - begun > std::chrono::milliseconds(300); }));
  EXPECT_TRUE(engine.cancel(operation, &sent_at));
  EXPECT_GT(sent_at, 0);
  EXPECT_FALSE(called);
  EXPECT_FALSE(engine.cancel(operation, &sent_at));  // unknown by now: a no-op
}

TEST(SplitUrl, Parts) {
  const auto parts = split_url("https://[::1]:8443/a/b?c#d");
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->host, "::1");
  EXPECT_EQ(parts->path, "/a/b");
  EXPECT_TRUE(parts->has_query);
  EXPECT_TRUE(parts->has_fragment);
  EXPECT_FALSE(parts->has_credentials);
  EXPECT_FALSE(split_url("http://a b/"));
}

}  // namespace
}  // namespace billcore::detail
