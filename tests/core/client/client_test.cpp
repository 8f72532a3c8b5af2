// Tests the client over real sockets: shared use, closing, deadlines, interruption. fork_test.cpp tests forks;
// tests/conformance tests the wire format.
#include "billcore/client.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "billcore/error.hpp"
#include "billcore/webhook.hpp"
#include "call/options.hpp"
#include "support/attempts.hpp"
#include "support/errors.hpp"
#include "support/server.hpp"

namespace billcore {
namespace {

using test::demo;
using test::error_of;
using test::Sandbox;
using test::ScriptedServer;
using namespace std::chrono_literals;

std::int64_t one_time_product(const Sandbox& sandbox) {
  const auto state = sandbox.client();
  for (const auto& product : state.products().list()) {
    if (product.type().find("one") != std::string_view::npos) return product.id();
  }
  ADD_FAILURE() << "the sandbox has no one-time product";
  return 0;
}

TEST(Client, ChargeIsMadeOnceAndFoundAmongTheOrders) {
  auto& sandbox = Sandbox::fresh();
  const auto client = sandbox.client();
  const auto id = demo(client, "demo-active").id();
  const auto product = one_time_product(sandbox);
  const auto order = client.subscriptions().charge(id, {product, 1500, 2, std::nullopt, "Two lessons"});
  EXPECT_EQ(order.total(), 3000);
  EXPECT_EQ(sandbox.effects("charge"), 1);
  EXPECT_EQ(client.subscriptions().orders(id).first()->id(), order.id());
  EXPECT_EQ(order.response_info()->status(), 200);
  EXPECT_EQ(order.response_info()->attempts(), 1);
}

TEST(Client, ResetAfterTheEffectIsOutcomeUnknown) {
  auto& sandbox = Sandbox::fresh();
  const auto client = sandbox.client();
  const auto id = demo(client, "demo-active").id();
  const auto product = one_time_product(sandbox);
  for (const char* kind : {"reset_after", "half_body"}) {
    sandbox.post("/reset");
    sandbox.fault(R"({"kind":")" + std::string(kind) +
                  R"(","method":"POST","path":"/subscription/*/order","times":1})");
    const auto error = error_of([&] { client.subscriptions().charge(id, {product, 700, {}, {}, {}}); });
    EXPECT_EQ(error.code(), ErrorCode::outcome_unknown) << error.what();
    EXPECT_TRUE(error.detail().outcome_unknown);
    EXPECT_EQ(error.detail().cause, ErrorCode::connection);
    EXPECT_TRUE(error.detail().attempted_at);
    EXPECT_EQ(sandbox.effects("charge"), 1) << kind;
    EXPECT_EQ(sandbox.received("POST"), 1) << kind;
  }
}

TEST(Client, ManyThreadsShareClientAndVerifier) {
  auto& sandbox = Sandbox::fresh();
  const auto client = sandbox.client();
  const auto id = demo(client, "demo-active").id();
  const std::string secret(32, 's');
  const Verifier verifier(secret);
  const std::string body =
      R"({"id":5,"name":"order.paid","account":1,"created_at":"2025-04-25T00:00:00Z","data":{"id":"o"}})";
  const auto signature = webhooks::sign(body, secret);
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        good += client.subscriptions().get(id).id() == id ? 1 : 0;
        good += verifier.unwrap(body, signature).id() == Id(5) ? 1 : 0;
        good += verifier.check(body, std::string(64, 'a')) == SignatureReason::mismatch ? 1 : 0;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, 8 * 10 * 3);
}

TEST(Client, OneEventSharedByThreads) {
  const std::string secret(32, 's');
  const std::string body = R"({"id":5,"name":"order.paid","data":{"id":"o","total":1}})";
  const auto event = webhooks::unwrap(body, webhooks::sign(body, secret), secret);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([event] {
      for (int i = 0; i < 200; ++i) EXPECT_EQ(event.data_as<Order>()->copy().total(), 1);
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(Client, ClosedIsConfigError) {
  auto client = Sandbox::fresh().client();
  auto pager = client.products().list();
  (void)pager.first();
  client.close();
  client.close();
  EXPECT_EQ(error_of([&] { (void)client.products().get(1); }).code(), ErrorCode::config);
  EXPECT_EQ(error_of([&] { (void)client.products().list(); }).code(), ErrorCode::config);
}

TEST(Client, UrlsWithLineEndsAreRefused) {
  ClientOptions options;
  options.base_url = "https://api.example/acct";
  options.api_key = "key";
  const auto error = error_of([&] { Client(options).webhook_endpoints().create("https://a\r\nX: y"); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
}

TEST(Client, DeadlineHoldsAgainstASilentServer) {
  auto& sandbox = Sandbox::fresh();
  sandbox.fault(R"({"kind":"delay","delay":3600,"times":2})");
  auto options = sandbox.options();
  options.timeout = 300ms;
  const Client client(options);
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(error_of([&] { (void)client.products().get(1); }).code(), ErrorCode::timeout);
  const auto write = error_of([&] { client.products().update(1, JsonObject().set("name", "n")); });
  EXPECT_EQ(write.code(), ErrorCode::outcome_unknown);
  EXPECT_EQ(write.detail().cause, ErrorCode::timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 20s);
}

TEST(Client, PerCallTimeoutWins) {
  auto& sandbox = Sandbox::fresh();
  sandbox.fault(R"({"kind":"delay","delay":1,"times":2})");
  auto options = sandbox.options();
  options.timeout = 200ms;
  const Client client(options);
  CallOptions patient;
  patient.timeout = no_timeout;
  auto pager = client.products().list({}, patient);
  EXPECT_TRUE(pager.first());
  CallOptions zero;
  zero.timeout = 0ms;
  EXPECT_EQ(error_of([&] { (void)client.products().get(1, zero); }).code(), ErrorCode::invalid_argument);
}

TEST(Client, InterruptEndsACallAtOnce) {
  auto& sandbox = Sandbox::fresh();
  sandbox.fault(R"({"kind":"delay","delay":3600,"times":2})");
  auto options = sandbox.options();
  const auto begun = std::chrono::steady_clock::now();
  options.interrupt = [&begun] { return std::chrono::steady_clock::now() - begun > 200ms; };
  const Client client(options);
  const auto read = error_of([&] { (void)client.products().get(1); });
  EXPECT_EQ(read.code(), ErrorCode::interrupted);
  EXPECT_FALSE(read.detail().outcome_unknown);
  const auto write = error_of([&] { client.products().remove(1); });
  EXPECT_EQ(write.code(), ErrorCode::interrupted);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 20s);
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
  EXPECT_TRUE(write.detail().attempted_at);
}

TEST(Client, KeyIsInNoErrorEvenWhenTheServerEchoesIt) {
  ScriptedServer server([](const std::string& head) {
    const auto at = head.find("X-API-KEY: ");
    const auto key = head.substr(at + 11, head.find('\r', at) - at - 11);
    return ScriptedServer::json(R"({"error":{"code":")" + key + R"(","message":"bad key )" + key + "\"}}", 422);
  });
  ClientOptions options;
  options.base_url = server.url();
  options.api_key = "super-secret-key";
  const auto error = error_of([&] { (void)Client(options).products().get(1); });
  for (const auto& text : {error.message(), error.detail().api_code, error.detail().api_message, error.detail().body}) {
    EXPECT_EQ(text.find("super-secret-key"), std::string::npos) << text;
    EXPECT_NE(text, "");
  }
}

// libcurl reads each of the invalid status lines below as status 200.
TEST(Client, AStatusLineThatIsNoneIsNoSuccess) {
  for (const std::string line : {"http/1.1 402 X", "HTTP/x.1 402 X", "HTTP/x.1 200 OK"}) {
    ScriptedServer server([&line](const std::string&) {
      const std::string body = R"({"data":{"id":"ord_1"}})";
      return line + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    });
    ClientOptions options;
    options.base_url = server.url();
    options.api_key = "key";
    const Client client(options);
    const auto charged = error_of([&] { (void)client.subscriptions().charge("s", {1, 2, {}, {}, {}}); });
    EXPECT_EQ(charged.code(), ErrorCode::outcome_unknown) << line;
    EXPECT_EQ(charged.detail().http_status, 0) << line;
    // Newer releases of libcurl refuse the status line themselves; the message then has libcurl's reason in brackets.
    EXPECT_NE(charged.message().find("not HTTP as expected"), std::string::npos) << charged.message();
    EXPECT_EQ(error_of([&] { (void)client.orders().get("o"); }).code(), ErrorCode::connection) << line;
  }
}

TEST(Client, AHeaderLineThatIsNoneIsNotHttp) {
  ScriptedServer server([](const std::string&) { return "HTTP/1.1 200 OK\r\nwithout a colon\r\n\r\n{\"data\":{}}"; });
  ClientOptions options;
  options.base_url = server.url();
  options.api_key = "key";
  const Client client(options);
  const auto read = error_of([&] { (void)client.orders().get("o"); });
  EXPECT_EQ(read.code(), ErrorCode::connection) << read.message();
  EXPECT_NE(read.message().find("not HTTP as expected"), std::string::npos) << read.message();
  const auto charged = error_of([&] { (void)client.subscriptions().charge("s", {1, 2, {}, {}, {}}); });
  EXPECT_EQ(charged.code(), ErrorCode::outcome_unknown);
  EXPECT_EQ(charged.detail().cause, ErrorCode::connection) << charged.message();
}

TEST(Client, OptionsThatCannotWorkAreRefused) {
  const auto refused = [](const std::function<void(ClientOptions&)>& change) {
    ClientOptions options;
    options.base_url = "https://api.example/acct";
    options.api_key = "key";
    change(options);
    const auto error = error_of([&] { const Client client(options); });
    EXPECT_EQ(error.code(), ErrorCode::config);
    return error.message();
  };
  EXPECT_NE(refused([](auto& o) { o.api_key = ""; }).find("BILLCORE_API_KEY"), std::string::npos);
  EXPECT_EQ(refused([](auto& o) { o.api_key = "sec\nret"; }).find("ret"), std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.timeout = 0ms; }).find("timeout"), std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.ca_bundle = "/nowhere.pem"; }).find("/nowhere.pem"), std::string::npos);
  refused([](auto& o) { o.headers = {{"X-API-KEY", "other"}}; });
  refused([](auto& o) { o.headers = {{"X-Bad", "a\r\nb"}}; });
  refused([](auto& o) { o.headers = {{"Bad name", "a"}}; });
  refused([](auto& o) { o.headers = {{"", "a"}}; });
  refused([](auto& o) { o.max_response = 0; });
  refused([](auto& o) { o.request_id_header = ""; });
}

TEST(Client, OptionsFromTheEnvironment) {
  auto& sandbox = Sandbox::fresh();
  setenv("BILLCORE_BASE_URL", sandbox.base_url().c_str(), 1);
  setenv("BILLCORE_API_KEY", sandbox.api_key().c_str(), 1);
  const Client client{ClientOptions()};
  unsetenv("BILLCORE_BASE_URL");
  unsetenv("BILLCORE_API_KEY");
  EXPECT_TRUE(client.products().list().first());
}

TEST(Client, StatesAreGivenOneByOne) {
  const Id id("s");
  const auto refused = [&](std::vector<std::string> states) {
    return error_of([&] { (void)operations::subscriptions::orders(id, {.states = std::move(states)}); });
  };
  for (const char* state : {"paid,confirmed", ",", "paid, confirmed"}) {
    EXPECT_EQ(refused({"new", state}).code(), ErrorCode::invalid_argument);
    EXPECT_NE(refused({state}).message().find("one by one"), std::string::npos);
  }
  EXPECT_NE(refused({""}).message().find("leave it out"), std::string::npos);
}

TEST(Client, OwnRequestsAreChecked) {
  ClientOptions options;
  options.base_url = "https://api.example/acct";
  options.api_key = "key";
  const Client client(options);
  for (const auto& [method, path] : std::vector<std::pair<std::string, std::string>>{{"get", "/a"},
                                                                                     {"HEAD", "/a"},
                                                                                     {"GET", "a"},
                                                                                     {"GET", ""},
                                                                                     {"GET", "/a?b"},
                                                                                     {"GET", "/a#b"},
                                                                                     {"GET", "/a b"},
                                                                                     {"GET", "/../b"},
                                                                                     {"GET", "/a/.."},
                                                                                     {"GET", "/./b"},
                                                                                     {"GET", "/%2e%2E/b"},
                                                                                     {"GET", "/a/.%2e"},
                                                                                     {"GET", "/a\r\nb"}}) {
    EXPECT_EQ(error_of([&, &m = method, &p = path] { client.request(m, p); }).code(), ErrorCode::invalid_argument)
        << path;
  }
  RequestOptions body;
  body.json = "{";
  EXPECT_EQ(error_of([&] { client.request("POST", "/a", body); }).code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace billcore
