// Tests whether and when a request is retried. The first tests check each row of the decision table without a
// network; the others run the retry loop over real sockets, with a simulated clock, sleep and randomness.
#include "call/retry.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <limits>
#include <mutex>

#include "billcore/client.hpp"
#include "call/session.hpp"
#include "support/errors.hpp"
#include "support/server.hpp"

namespace billcore::detail {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using test::Server;

Transfer answer(int status) {
  Transfer transfer;
  transfer.status = status;
  transfer.sent = true;
  return transfer;
}

Transfer failed(Failure failure, bool sent) {
  Transfer transfer;
  transfer.failure = failure;
  transfer.sent = sent;
  return transfer;
}

Transfer broken(int status) {
  Transfer transfer = answer(status);
  transfer.breaks_off = true;
  return transfer;
}

TEST(Retry, WhatMayBeRepeated) {
  struct Row {
    Transfer transfer;
    bool get;
    bool write;
  };
  const std::vector<Row> rows{
      {failed(Failure::resolve, false), true, true},
      {failed(Failure::connect, false), true, true},
      {failed(Failure::handshake, false), true, true},
      {failed(Failure::reset, false), true, true},
      {failed(Failure::reset, true), true, false},
      {failed(Failure::truncated, true), true, false},
      {failed(Failure::tls, false), false, false},
      {failed(Failure::certificate, false), false, false},
      {failed(Failure::certificate, true), false, false},
      {failed(Failure::timeout, false), false, false},
      {failed(Failure::timeout, true), false, false},
      {failed(Failure::too_large, true), false, false},
      {failed(Failure::proxy, false), false, false},
      {failed(Failure::protocol, true), false, false},
      {failed(Failure::other, true), false, false},
      {broken(200), true, false},
      {answer(200), false, false},
      {answer(204), false, false},
      {answer(301), false, false},
      {answer(307), false, false},
      {answer(400), false, false},
      {answer(401), false, false},
      {answer(402), false, false},
      {answer(404), false, false},
      {answer(408), true, false},
      {answer(422), false, false},
      {answer(429), true, false},
      {answer(500), true, false},
      {answer(502), true, false},
      {answer(503), true, false},
      {answer(504), true, false},
      {answer(599), true, false},
  };
  for (const auto& row : rows) {
    const auto what = std::to_string(static_cast<int>(row.transfer.failure)) + " status " +
                      std::to_string(row.transfer.status) + (row.transfer.sent ? " sent" : " not sent");
    EXPECT_EQ(may_repeat(false, row.transfer), row.get) << what;
    EXPECT_EQ(may_repeat(true, row.transfer), row.write) << what;
  }
}

TEST(Retry, BackoffDoublesWithFullJitterUpToALimit) {
  const auto now = SteadyClock::now();
  const auto wait = [&](int made, double chance) {
    return wait_before_next({false, made, 100}, answer(503), now, chance);
  };
  EXPECT_EQ(wait(1, 1.0), 250ms);
  EXPECT_EQ(wait(1, 0.5), 125ms);
  EXPECT_EQ(wait(1, 0.0), 0ms);
  EXPECT_EQ(wait(2, 1.0), 500ms);
  EXPECT_EQ(wait(3, 1.0), 1000ms);
  EXPECT_EQ(wait(6, 1.0), 8000ms);
  EXPECT_EQ(wait(50, 1.0), 8000ms);
}

TEST(Retry, AsManyAsAllowedAndNoneWithZero) {
  const auto now = SteadyClock::now();
  for (const int allowed : {0, 1, 2, 5}) {
    for (int made = 1; made < 8; ++made) {
      EXPECT_EQ(wait_before_next({false, made, allowed}, answer(500), now, 0.5).has_value(), made <= allowed);
    }
  }
}

TEST(Retry, ADeadConnectionIsReplacedAtOnceTheFirstTime) {
  auto dead = failed(Failure::reset, true);
  dead.died_on_reuse = true;
  EXPECT_EQ(wait_before_next({false, 1, 2}, dead, SteadyClock::now(), 1.0), 0ms);
  EXPECT_EQ(wait_before_next({false, 2, 2}, dead, SteadyClock::now(), 1.0), 500ms);
  EXPECT_FALSE(wait_before_next({true, 1, 2}, dead, SteadyClock::now(), 1.0));
}

TEST(Retry, WhatHttp2RefusedIsSentAgainAtOnceTheFirstTime) {
  const auto refused = failed(Failure::refused, false);
  EXPECT_EQ(wait_before_next({true, 1, 2}, refused, SteadyClock::now(), 1.0), 0ms);
  EXPECT_EQ(wait_before_next({true, 2, 2}, refused, SteadyClock::now(), 1.0), 500ms);
}

TEST(Retry, AReadGoesOverToHttp1AtOnce) {
  const auto refused = failed(Failure::http1_required, true);
  EXPECT_EQ(wait_before_next({false, 2, 2}, refused, SteadyClock::now(), 1.0), 0ms);
  EXPECT_FALSE(wait_before_next({true, 1, 2}, refused, SteadyClock::now(), 1.0));
}

TEST(Retry, AWaitThatDoesNotFitIsNotBegun) {
  const auto now = SteadyClock::now();
  EXPECT_EQ(wait_before_next({false, 1, 2, now + 251ms}, answer(503), now, 1.0), 250ms);
  EXPECT_FALSE(wait_before_next({false, 1, 2, now + 250ms}, answer(503), now, 1.0));
  EXPECT_EQ(wait_before_next({false, 1, 2, now + 10s, 3s}, answer(429), now, 1.0), 3s);
  EXPECT_FALSE(wait_before_next({false, 1, 2, now + 2s, 3s}, answer(429), now, 1.0));
  EXPECT_EQ(wait_before_next({false, 1, 2, std::nullopt, 60s}, answer(429), now, 1.0), 60s);
  EXPECT_FALSE(wait_before_next({false, 1, 2, std::nullopt, 61s}, answer(429), now, 1.0));
}

TEST(Retry, A429SlowsTheOtherRequests) {
  EXPECT_EQ(hold_after_429(2s, 5s), 2s);
  EXPECT_EQ(hold_after_429(std::nullopt, 5s), 5s);
  EXPECT_EQ(hold_after_429(std::nullopt, std::nullopt), first_backoff);
  EXPECT_EQ(hold_after_429(std::nullopt, 1h), longest_wait);
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(allowed_pages(most, 8, true), 4);
  EXPECT_EQ(allowed_pages(4, 8, true), 2);
  EXPECT_EQ(allowed_pages(1, 1, true), 1);
  EXPECT_EQ(allowed_pages(2, 2, false), 3);
  EXPECT_EQ(allowed_pages(most, 2, false), most);
}

TEST(Retry, RetryAfterInSecondsAndAsADate) {
  const auto read = [](const char* value, const char* date = nullptr) {
    auto transfer = answer(429);
    transfer.head = "Retry-After: " + std::string(value) + "\r\n";
    if (date != nullptr) transfer.head += "Date: " + std::string(date) + "\r\n";
    return retry_after(transfer.head, 784111777);  // Sun, 06 Nov 1994 08:49:37 GMT
  };
  EXPECT_EQ(read("3"), 3s);
  EXPECT_EQ(read("0"), 0s);
  EXPECT_EQ(read("1.5"), 1500ms);
  EXPECT_EQ(read("0.0001"), 1ms);  // never less than requested
  EXPECT_EQ(read("Sun, 06 Nov 1994 08:49:47 GMT"), 10s);
  EXPECT_EQ(read("Sun, 06 Nov 1994 08:49:27 GMT"), 0s);
  // The clocks of client and server may differ, so a date in Retry-After is compared with the Date of the answer.
  EXPECT_EQ(read("Sun, 06 Nov 1994 09:49:47 GMT", "Sun, 06 Nov 1994 09:49:37 GMT"), 10s);
  for (const char* bad : {"", "-1", "soon", "nan", "inf", "1x"}) EXPECT_FALSE(read(bad)) << bad;
  EXPECT_FALSE(retry_after(answer(429).head, 0));
}

// A server that sends `answers` in turn, and a session whose clock advances only when the session sleeps. If the next
// answer is an empty text, the server closes the connection instead.
class Loop {
 public:
  explicit Loop(std::deque<std::string> answers)
      : answers_(std::move(answers)), server_([this](const std::string& head) {
          EXPECT_FALSE(head.empty());
          ++received;
          const std::lock_guard lock(mutex_);
          if (answers_.empty()) return Server::json("{}", 418);
          auto next = std::move(answers_.front());
          answers_.pop_front();
          return next;
        }) {
    auto options = server_.options();
    options.max_retries = 2;
    options.timeout = 20s;
    RetryEnvironment sources;
    sources.now = [this] { return SteadyClock::now() + slept_; };
    sources.sleep = [this](milliseconds length) {
      slept_ += length;
      sleeps.push_back(length);
    };
    sources.chance = [] { return 1.0; };
    session = std::make_unique<Session>(options, sources);
  }

  std::string run(const std::string& method) {
    try {
      return "status " + std::to_string(session->response({method, "/x"}, true, {}).status());
    } catch (const Error& error) {
      attempts = error.detail().attempts;
      return "error " + std::to_string(static_cast<int>(error.code()));
    }
  }

  std::atomic<std::size_t> received = 0;  // number of requests
  std::vector<milliseconds> sleeps;
  int attempts = 0;
  std::unique_ptr<Session> session;

 private:
  milliseconds slept_{0};
  std::mutex mutex_;
  std::deque<std::string> answers_;
  Server server_;
};

std::string error(ErrorCode code) { return "error " + std::to_string(static_cast<int>(code)); }

TEST(RetryLoop, RetryAfterIsWaitedFor) {
  const auto limited = [](const std::string& after) {
    return Server::json("{}", 429, "Retry-After: " + after + "\r\n");
  };
  Loop loop({limited("7"), Server::json("{}")});
  EXPECT_EQ(loop.run("GET"), "status 200");
  // The wait after the 429 applies to all calls of the client, so the retry of this call does not wait again.
  EXPECT_EQ(loop.sleeps, (std::vector<milliseconds>{7s}));

  Loop later({limited("30"), Server::json("{}")});  // Retry-After exceeds the 20 s until the deadline
  EXPECT_EQ(later.run("GET"), error(ErrorCode::rate_limit));
  EXPECT_EQ(later.received, 1U);
  EXPECT_TRUE(later.sleeps.empty());
}

TEST(RetryLoop, A429HoldsUpTheNextCall) {
  Loop loop({Server::json("{}", 429), Server::json("{}", 429), Server::json("{}", 429), Server::json("{}")});
  EXPECT_EQ(loop.run("GET"), error(ErrorCode::rate_limit));
  EXPECT_EQ(loop.attempts, 3);
  EXPECT_EQ(loop.sleeps, (std::vector<milliseconds>{250ms, 500ms}));
  EXPECT_EQ(loop.run("POST"), "status 200");  // the throttle delays the write before any of its bytes are sent
  ASSERT_EQ(loop.sleeps.size(), 3U);
  EXPECT_GT(loop.sleeps.back(), 0ms);
  EXPECT_LE(loop.sleeps.back(), 250ms);
}

TEST(RetryLoop, AnInterruptEndsTheWait) {
  const Server server([](const std::string&) { return Server::json("{}", 503); });
  auto options = server.options();
  options.max_retries = 2;
  options.timeout = no_timeout;
  int asked = 0;
  options.interrupt = [&asked] { return ++asked > 1; };
  RetryEnvironment sources;
  sources.chance = [] { return 1.0; };
  Session session(options, sources);
  const auto begun = SteadyClock::now();
  const auto error = test::error_of([&] { static_cast<void>(session.response({"GET", "/x"}, true, {})); });
  EXPECT_EQ(error.code(), ErrorCode::interrupted);
  EXPECT_LT(SteadyClock::now() - begun, 20s);
}

TEST(WithOptions, SharesTheConnectionsAndDiffersInTheRest) {
  std::mutex mutex;
  std::vector<std::string> received;
  const Server server([&](const std::string& head) {
    const std::lock_guard lock(mutex);
    received.push_back(head);
    return Server::json("{}", received.size() == 1 ? 503 : 200);
  });
  const auto heads_now = [&] {
    const std::lock_guard lock(mutex);
    return received;
  };
  auto options = server.options();
  options.max_retries = 2;
  options.headers = {{"X-One", "1"}};
  Client client(options);
  auto once = client.with_options({.max_retries = 0, .headers = {{{"X-Two", "2"}}}});
  EXPECT_THROW(static_cast<void>(once.request("GET", "/x")), Error);
  auto heads = heads_now();
  ASSERT_EQ(heads.size(), 1U);
  EXPECT_NE(heads[0].find("X-Two: 2"), std::string::npos);
  EXPECT_EQ(heads[0].find("X-One"), std::string::npos);
  EXPECT_NE(heads[0].find("X-API-KEY: key"), std::string::npos);
  once.close();
  EXPECT_THROW(static_cast<void>(once.request("GET", "/x")), Error);
  EXPECT_EQ(client.request("GET", "/x").status(), 200);
  heads = heads_now();
  ASSERT_EQ(heads.size(), 2U);
  EXPECT_NE(heads[1].find("X-One: 1"), std::string::npos);
  EXPECT_THROW(static_cast<void>(client.with_options({.timeout = 0ms})), Error);
  EXPECT_THROW(static_cast<void>(client.with_options({.max_retries = -1})), Error);
  client.close();
  EXPECT_THROW(static_cast<void>(client.with_options({})), Error);
}

}  // namespace
}  // namespace billcore::detail
