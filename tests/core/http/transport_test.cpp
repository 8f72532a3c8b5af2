// Tests the engine over real sockets, above all that a write is not sent twice when a reused connection breaks.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "http/engine.hpp"
#include "http/url_parts.hpp"
#include "support/json_text.hpp"
#include "support/server.hpp"

namespace billcore::detail {
namespace {

using test::Sandbox;

std::shared_ptr<const RequestHeaders> headers_for(const Sandbox& sandbox) {
  return std::make_shared<RequestHeaders>(std::vector<std::string>{"X-API-KEY: " + sandbox.api_key()});
}

std::shared_ptr<const RequestHeaders> no_headers() {
  return std::make_shared<RequestHeaders>(std::vector<std::string>{});
}

Transfer run(Engine& engine, const std::string& method, const std::string& url,
             std::shared_ptr<const RequestHeaders> headers, std::optional<std::string> body = {}) {
  std::optional<Transfer> result;
  engine.start({method, url, std::move(body), SteadyClock::now() + std::chrono::seconds(20), std::move(headers)},
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

// Sends a write over a reused connection that is reset as soon as the request has arrived.
int received_over_dying_connection(bool guard, const Write& write, Transfer& outcome) {
  auto& sandbox = Sandbox::fresh();
  sandbox.fault(R"({"kind":"reset_before","method":")" + std::string(write.method) + "\",\"times\":5}");
  TransportOptions options;
  options.send_guard = guard;
  Engine engine(options);
  EXPECT_EQ(run(engine, "GET", sandbox.base_url() + "/products?page=1", headers_for(sandbox)).status, 200);
  outcome = run(engine, write.method, sandbox.base_url() + write.path, headers_for(sandbox), write.body);
  return sandbox.received(write.method);
}

TEST(WriteGuard, EveryWriteIsReceivedOnceOverADyingConnection) {
  for (const auto& write : all_writes(Sandbox::fresh())) {
    Transfer outcome;
    EXPECT_EQ(received_over_dying_connection(true, write, outcome), 1) << write.name;
    EXPECT_EQ(outcome.failure, Failure::reset) << write.name;
    EXPECT_TRUE(outcome.sent) << write.name;
    EXPECT_GT(outcome.sent_at.utc, Instant()) << write.name;
  }
}

TEST(WriteGuard, WithoutItLibcurlSendsTwice) {
  for (const auto& write : all_writes(Sandbox::fresh())) {
    Transfer outcome;
    EXPECT_EQ(received_over_dying_connection(false, write, outcome), 2) << write.name;
  }
}

TEST(Engine, AHeaderOverLibcurlsLimitIsNoLackOfMemory) {
  for (const std::size_t size : {110'000U, 200'000U, 1'000'000U}) {
    for (const bool first : {true, false}) {
      const test::Listener listener;
      std::thread server([&] {
        const int accepted = listener.accept_one();
        std::array<char, 4096> request{};
        EXPECT_GT(read(accepted, request.data(), request.size()), 0);
        auto answer = std::string("HTTP/1.1 200 OK\r\n") + (first ? "" : "Content-Length: 2\r\n") + "X: ";
        answer.append(size, 'x').append("\r\n\r\n{}");
        static_cast<void>(send(accepted, answer.data(), answer.size(), MSG_NOSIGNAL));
        close(accepted);
      });
      Engine engine({});
      const auto outcome = run(engine, "POST", listener.url("/"), no_headers());
      server.join();
      EXPECT_EQ(outcome.failure, Failure::protocol) << outcome.reason;
      EXPECT_NE(outcome.reason.find("headers"), std::string::npos) << outcome.reason;
      EXPECT_TRUE(outcome.sent);
    }
  }
}

// If the first header line of an answer begins with a space, libcurl 7.88 appends the line to the last header line of
// the previous answer, whose memory it has freed. AddressSanitizer would report the access to freed memory.
TEST(Engine, AFirstHeaderLineThatGoesOnWithNothingIsNoPartOfTheAnswerBefore) {
  const test::ScriptedServer server([](const std::string& head) {
    const std::string first = head.starts_with("GET /acct/folded") ? " folded: 1\r\n" : "X: 1\r\n";
    return "HTTP/1.1 200 OK\r\n" + first + "Connection: close\r\nContent-Length: 2\r\n\r\n{}";
  });
  Engine engine({});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run(engine, "GET", server.url() + "/plain", no_headers()).failure, Failure::none);
    const auto folded = run(engine, "GET", server.url() + "/folded", no_headers());
    EXPECT_TRUE(folded.failure == Failure::none || folded.failure == Failure::protocol) << folded.reason;
    EXPECT_EQ(folded.head.find("X: 1"), std::string::npos) << folded.head;
  }
}

// The server closes or resets an idle connection. The client must detect the close or reset before it sends the next
// request.
TEST(Engine, AConnectionThatWasGivenUpIsNoticedBeforeAnythingIsSent) {
  for (const bool reset : {false, true}) {
    std::optional<test::Listener> listener(std::in_place);
    std::atomic<int> connection{-1};
    std::thread server([&] {
      const int accepted = listener->accept_one();
      std::array<char, 4096> request{};
      EXPECT_GT(read(accepted, request.data(), request.size()), 0);
      const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
      EXPECT_GT(write(accepted, answer.data(), answer.size()), 0);
      connection = accepted;
    });
    Engine engine({});
    const auto send = [&engine, url = listener->url("/")](const char* method) {
      return run(engine, method, url, no_headers());
    };
    EXPECT_EQ(send("GET").status, 200);
    server.join();
    listener.reset();  // from now on, connections are refused
    if (reset) {
      const linger at_once{1, 0};
      setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    close(connection);
    auto outcome = send("POST");
    if (outcome.dead_before_send) outcome = send("POST");  // after a close without RST, libcurl itself connects again
    EXPECT_FALSE(outcome.sent) << reset;
    EXPECT_EQ(outcome.failure, Failure::connect) << outcome.reason;
  }
}

TEST(Engine, AConnectionThatWasIdleForLongIsNotUsedAgain) {
  const test::Listener listener;
  std::vector<int> requests;  // number of requests on each connection
  std::thread server([&] {
    for (int peer = listener.accept_one(); peer >= 0; peer = listener.accept_one()) {
      requests.push_back(0);
      std::array<char, 4096> request{};
      while (read(peer, request.data(), request.size()) > 0) {
        ++requests.back();
        const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        EXPECT_GT(write(peer, answer.data(), answer.size()), 0);
      }
      close(peer);
    }
  });
  {
    TransportOptions options;
    options.max_idle = std::chrono::seconds(1);
    Engine engine(options);
    for (const int idle : {0, 0, 2300, 0}) {
      std::this_thread::sleep_for(std::chrono::milliseconds(idle));
      EXPECT_EQ(run(engine, "POST", listener.url("/"), no_headers()).status, 200);
    }
  }
  listener.stop();
  server.join();
  EXPECT_EQ(requests, (std::vector<int>{2, 2}));
}

TEST(Engine, ConnectionIsKeptAndSeveralOperationsRunAtOnce) {
  auto& sandbox = Sandbox::fresh();
  TransportOptions options;
  Engine engine(options);
  int done = 0;
  for (int i = 0; i < 8; ++i) {
    engine.start({"GET", sandbox.base_url() + "/products?page=1", {}, {}, headers_for(sandbox)},
                 [&done](Transfer&& transfer) {
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
  Engine engine(options);
  bool called = false;
  auto* operation = engine.start({"GET", sandbox.base_url() + "/products", {}, {}, headers_for(sandbox)},
                                 [&called](Transfer&&) { called = true; });
  SendTime sent_at;
  EXPECT_FALSE(engine.cancel(operation, &sent_at));  // nothing was sent, because drive() has not run
  operation = engine.start({"GET", sandbox.base_url() + "/products", {}, {}, headers_for(sandbox)},
                           [&called](Transfer&&) { called = true; });
  const auto begun = SteadyClock::now();
  EXPECT_FALSE(
      engine.drive([] { return false; }, [&] { return SteadyClock::now() - begun > std::chrono::milliseconds(300); }));
  EXPECT_TRUE(engine.cancel(operation, &sent_at));
  EXPECT_GT(sent_at.utc, Instant());
  EXPECT_FALSE(called);
  EXPECT_FALSE(engine.cancel(operation, &sent_at));  // the operation has already ended
}

// If the deadline passes before libcurl sends a request (for example, because the process was suspended), libcurl
// must not send the request. The test covers reads and writes, on reused and on new connections.
TEST(Engine, SendsNothingAfterTheDeadline) {
  auto& sandbox = Sandbox::fresh();
  const auto url = sandbox.base_url() + "/products";
  for (const bool kept : {true, false}) {
    for (const char* method : {"GET", "POST"}) {
      Engine engine({});
      EXPECT_TRUE(!kept || run(engine, "GET", url, headers_for(sandbox)).status == 200);
      const int received = sandbox.received("");
      std::optional<Transfer> result;
      auto* const request = engine.start({method, url, {}, {}, headers_for(sandbox)},
                                         [&result](Transfer&& transfer) { result = std::move(transfer); });
      Engine::set_deadline(request, SteadyClock::now());
      EXPECT_TRUE(engine.drive([&result] { return result.has_value(); }, {}));
      EXPECT_EQ(result->failure, Failure::timeout) << result->reason;
      EXPECT_FALSE(result->sent);
      EXPECT_EQ(sandbox.received(""), received);
    }
  }
}

TEST(SteadyClock, CountsTheTimeWhileTheMachineIsSuspended) {
  const auto read = [] {
    timespec time{};
    EXPECT_EQ(clock_gettime(CLOCK_BOOTTIME, &time), 0);
    return SteadyClock::time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
  };
  const auto before = read();
  const auto now = SteadyClock::now();
  EXPECT_LE(before, now);
  EXPECT_LE(now, read());
}

TEST(SplitUrl, Parts) {
  const auto parts = split_url("https://[::1]:8443/a/b?c#d");
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->host, "::1");
  EXPECT_TRUE(parts->has_query);
  EXPECT_TRUE(parts->has_fragment);
  EXPECT_FALSE(parts->has_credentials);
  EXPECT_FALSE(split_url("http://a b/"));
}

}  // namespace
}  // namespace billcore::detail
