// Tests the engine over real sockets, above all that a write is not sent twice when a reused connection breaks.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "http/engine.hpp"
#include "support/server.hpp"

namespace billcore::detail {
namespace {

using test::Server;

std::shared_ptr<const RequestHeaders> no_headers() {
  return std::make_shared<RequestHeaders>(std::vector<std::string>{});
}

Transfer run(Engine& engine, const std::string& method, const std::string& url, std::optional<std::string> body = {}) {
  std::optional<Transfer> result;
  engine.start({method, url, std::move(body), SteadyClock::now() + std::chrono::seconds(20), no_headers()},
               [&result](Transfer&& transfer) { result = std::move(transfer); });
  EXPECT_TRUE(engine.drive([&result] { return result.has_value(); }, {}));
  return *std::move(result);
}

// Sends a write over a reused connection that is reset as soon as the request has arrived; returns how often it arrives.
int received_over_dying_connection(bool guard, const char* method, const std::optional<std::string>& body,
                                   Transfer& outcome) {
  const Server server(
      [](const std::string& head) { return head.starts_with("GET") ? Server::kept("{}") : std::string("!"); });
  TransportOptions options;
  options.send_guard = guard;
  Engine engine(options);
  EXPECT_EQ(run(engine, "GET", server.url()).status, 200);
  outcome = run(engine, method, server.url(), body);
  return server.asked - 1;
}

// Without the guard, libcurl sends a request again if a reused connection breaks before an answer.
TEST(WriteGuard, EveryWriteIsReceivedOnceOverADyingConnection) {
  for (const auto& [method, body] : std::vector<std::pair<const char*, std::optional<std::string>>>{
           {"POST", std::nullopt}, {"POST", R"({"amount":100})"}, {"DELETE", std::nullopt}}) {
    Transfer outcome;
    EXPECT_EQ(received_over_dying_connection(false, method, body, outcome), 2) << method;
    EXPECT_EQ(received_over_dying_connection(true, method, body, outcome), 1) << method;
    EXPECT_EQ(outcome.failure, Failure::reset) << method;
    EXPECT_TRUE(outcome.sent) << method;
    EXPECT_GT(outcome.sent_at.utc, Instant()) << method;
  }
}

// If the first header line of an answer begins with a space, libcurl 7.88 appends the line to the last header line of
// the previous answer, whose memory it has freed. AddressSanitizer would report the access to freed memory.
TEST(Engine, AFirstHeaderLineThatGoesOnWithNothingIsNoPartOfTheAnswerBefore) {
  const Server server([](const std::string& head) {
    const std::string first = head.starts_with("GET /acct/folded") ? " folded: 1\r\n" : "X: 1\r\n";
    return "HTTP/1.1 200 OK\r\n" + first + "Connection: close\r\nContent-Length: 2\r\n\r\n{}";
  });
  Engine engine({});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run(engine, "GET", server.url() + "/plain").failure, Failure::none);
    const auto folded = run(engine, "GET", server.url() + "/folded");
    EXPECT_TRUE(folded.failure == Failure::none || folded.failure == Failure::protocol) << folded.reason;
    EXPECT_EQ(folded.head.find("X: 1"), std::string::npos) << folded.head;
  }
}

// A request sets only the options of libcurl that differ from the request before.
TEST(Engine, ARequestIsSentAsByAnotherEngine) {
  std::mutex mutex;
  std::string received;
  const Server server([&](const std::string& head) {
    const std::lock_guard lock(mutex);
    received = head;
    return Server::kept("{}");
  });
  const auto url = server.url();
  const auto elsewhere = std::string(url).replace(url.find("127.0.0.1"), 9, "localhost");  // another origin
  const auto named = std::make_shared<RequestHeaders>(std::vector<std::string>{"X-API-KEY: k"});
  const std::vector<Request> requests{
      {"GET", url + "/1", {}, {}, no_headers()},
      {"GET", url + "/2?page=1", {}, SteadyClock::now() + std::chrono::hours(1), named},
      {"GET", elsewhere, {}, {}, named, true},
      {"POST", url, R"({"amount":100})", {}, named, false, true},
      {"POST", url + "/cancel", {}, SteadyClock::now() + std::chrono::hours(1), named, false, true},
      {"DELETE", url + "/3", {}, {}, named, false, true},
      {"PATCH", url + "/4", R"({"name":"x"})", {}, no_headers(), false, true},
  };
  TransportOptions options;
  options.origin = url.substr(0, url.find("/acct"));
  const auto sent_by = [&](Engine& engine, const Request& request) {
    std::optional<Transfer> result;
    engine.start(request, [&result](Transfer&& transfer) { result = std::move(transfer); });
    EXPECT_TRUE(engine.drive([&result] { return result.has_value(); }, {}));
    EXPECT_EQ(result->status, 200) << result->reason;
    const std::lock_guard lock(mutex);
    return std::exchange(received, {});
  };
  for (const auto& request : requests) {
    Engine alone(options);
    const auto wanted = sent_by(alone, request);
    for (const auto& before : requests) {
      Engine engine(options);
      sent_by(engine, before);
      EXPECT_EQ(sent_by(engine, request), wanted) << "after " << before.method << ' ' << before.url;
    }
  }
}

TEST(Engine, ATimeOutIsThatOfOneRequest) {
  const Server server([](const std::string& head) {
    if (head.starts_with("GET")) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    return Server::kept("{}");
  });
  Engine engine({});
  const auto send = [&](const char* method, Deadline deadline) {
    std::optional<Transfer> result;
    engine.start({method, server.url(), {}, deadline, no_headers(), false, true},
                 [&result](Transfer&& transfer) { result = std::move(transfer); });
    EXPECT_TRUE(engine.drive([&result] { return result.has_value(); }, {}));
    return result->status;
  };
  Deadline soon;
  do {  // until the write arrives in time, beside whatever load
    soon = SteadyClock::now() + std::chrono::seconds(1);
  } while (send("POST", soon) != 200);
  EXPECT_EQ(send("GET", std::nullopt), 200);
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
    const auto send = [&engine, url = listener->url("/")](const char* method) { return run(engine, method, url); };
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
  const Server server([](const std::string&) { return Server::kept("{}"); });
  TransportOptions options;
  options.max_idle = std::chrono::seconds(1);
  Engine engine(options);
  for (const auto& [idle, connections] : {std::pair(0, 1), {0, 1}, {2300, 2}, {0, 2}}) {
    std::this_thread::sleep_for(std::chrono::milliseconds(idle));
    EXPECT_EQ(run(engine, "POST", server.url()).status, 200);
    EXPECT_EQ(server.accepted, connections);
  }
}

// If the deadline passes before libcurl sends a request (for example, because the process was suspended), libcurl
// must not send the request. The test covers reads and writes, on reused and on new connections.
TEST(Engine, SendsNothingAfterTheDeadline) {
  std::atomic<int> received{0};
  const Server server([&received](const std::string&) {
    ++received;
    return Server::kept("{}");
  });
  for (const bool kept : {true, false}) {
    for (const char* method : {"GET", "POST"}) {
      Engine engine({});
      EXPECT_TRUE(!kept || run(engine, "GET", server.url()).status == 200);
      const int before = received;
      std::optional<Transfer> result;
      auto* const request = engine.start({method, server.url(), {}, {}, no_headers()},
                                         [&result](Transfer&& transfer) { result = std::move(transfer); });
      Engine::set_deadline(request, SteadyClock::now());
      EXPECT_TRUE(engine.drive([&result] { return result.has_value(); }, {}));
      EXPECT_EQ(result->failure, Failure::timeout) << result->reason;
      EXPECT_FALSE(result->sent);
      EXPECT_EQ(received, before);
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

}  // namespace
}  // namespace billcore::detail
