// Tests of the verifier that the shared vectors cannot express: who owns a body, streams that ended, a clock that fails,
// threads. tests/conformance runs the vectors.
#include "billcore/webhook.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

#include "support/errors.hpp"

namespace billcore {
namespace {

const std::string secret = "0123456789abcdefghijklmnopqrstuv";
const std::string paid = R"({"id":7,"name":"order.paid","account":1,"data":{"id":"o1","total":5}})";

ErrorCode code_of(const std::function<void()>& action) { return test::error_of(action).code(); }

TEST(Webhook, TheHeaderMayHaveAnotherName) {
  using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;
  const Verifier renamed(secret, {.header = "X-Signature"});
  EXPECT_EQ(renamed.unwrap_request(paid, Pairs{{"x-signature", webhooks::sign(paid, secret)}}).name(), "order.paid");
  for (const char* name : {"", "X\r\n", "a b", "X:"}) {
    EXPECT_EQ(code_of([&] { (void)Verifier(secret, {.header = name}); }), ErrorCode::config);
  }
  EXPECT_NO_THROW((void)Verifier(secret, {.header = "!#$%&'*+-.^_`|~09AZaz"}));  // all allowed characters
}

TEST(Webhook, SharedBodyIsNotCopied) {
  auto body = SharedText::own(paid);
  const char* where = body.text.data();
  const auto event = Verifier(secret).unwrap_shared(body, webhooks::sign(body.text, secret));
  EXPECT_EQ(event.raw().data(), where);
  EXPECT_EQ(webhooks::parse_unverified_shared(body).raw().data(), where);
}

TEST(Webhook, BodyEventAndDataOutliveEachOther) {
  for (const bool verified : {true, false}) {
    std::optional<Order> order;
    {
      const std::string body = paid;
      const auto event =
          verified ? webhooks::unwrap(body, webhooks::sign(body, secret), secret) : webhooks::parse_unverified(body);
      order = event.data_as<Order>();
    }
    ASSERT_TRUE(order);
    EXPECT_EQ(order->total(), 5);
    EXPECT_EQ(order->copy().id(), Id("o1"));
  }
}

SignatureReason reason_of(const std::function<void()>& action) {
  const auto error = test::error_of(action);
  EXPECT_EQ(error.code(), ErrorCode::signature) << error.what();
  return error.detail().reason;
}

TEST(Webhook, AStreamThatRefusedOrEndedTakesNothingMore) {
  const Verifier verifier(secret, {.max_body = 10});
  auto large = verifier.stream();
  large.update("123456");
  EXPECT_EQ(reason_of([&] { large.update("123456"); }), SignatureReason::body_too_large);
  EXPECT_EQ(reason_of([&] { large.update("1"); }), SignatureReason::body_too_large);
  EXPECT_EQ(reason_of([&] { (void)large.finish(webhooks::sign("1234561", secret)); }), SignatureReason::body_too_large);
  EXPECT_EQ(code_of([&] { (void)large.finish(std::nullopt); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { large.update("1"); }), ErrorCode::invalid_argument);
}

TEST(Webhook, StreamOutlivesItsVerifierAndIsCounted) {
  auto stream = Verifier(secret).stream();
  stream.update("body");
  EXPECT_EQ(stream.finish(webhooks::sign("body", secret)), 0U);
  const Verifier verifier({std::string(32, 'o'), secret});
  auto counted = verifier.stream();
  counted.update("body");
  EXPECT_EQ(counted.finish(webhooks::sign("body", secret)), 1U);
  EXPECT_EQ(verifier.matches(), (std::vector<std::uint64_t>{0, 1}));
}

TEST(Webhook, AClockThatFails) {
  using namespace std::chrono_literals;
  VerifierOptions options{.freshness = 1s,
                          .clock = []() -> Clock::result_type { throw std::runtime_error("no clock"); }};
  const Verifier broken(secret, options);
  const std::string body = R"({"name":"order.paid","created_at":"2025-04-25T09:30:00Z"})";
  EXPECT_EQ(broken.check(body, webhooks::sign(body, secret)), SignatureReason::stale);
  EXPECT_THROW((void)broken.unwrap(body, webhooks::sign(body, secret)), std::runtime_error);
}

// Eight threads share one Verifier. Each event is read in a different thread from the one that made it, and the last
// one in all threads; the events are read after the Verifier is destroyed. This test also runs under ThreadSanitizer.
TEST(Webhook, OneVerifierManyThreads) {
  constexpr int thread_count = 8;
  constexpr int rounds = 200;
  const auto& body = paid;
  const auto signature = webhooks::sign(body, secret);
  auto verifier = std::make_unique<Verifier>(Verifier({std::string(32, 'o'), secret}));
  std::vector<std::vector<Event>> made(thread_count);
  std::atomic<int> right = 0;
  const auto in_threads = [](const std::function<void(std::size_t)>& work) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < thread_count; ++i) threads.emplace_back(work, i);
    for (auto& thread : threads) thread.join();
  };
  in_threads([&](std::size_t own) {
    for (int i = 0; i < rounds; ++i) {
      std::size_t index = 0;
      right += verifier->check(body, signature, &index) == SignatureReason::none && index == 1 ? 1 : 0;
      right += verifier->check("x", signature) == SignatureReason::mismatch ? 1 : 0;
      auto event = verifier->unwrap(body, signature);
      if (i % 10 == 0) made[own].push_back(std::move(event));
    }
  });
  EXPECT_EQ(right.load(), 2 * thread_count * rounds);
  EXPECT_EQ(verifier->matches(), (std::vector<std::uint64_t>{0, 2 * thread_count * rounds}));
  const auto shared = verifier->unwrap(body, signature);
  verifier.reset();
  in_threads([&](std::size_t own) {
    auto events = std::move(made[(own + 1) % thread_count]);
    for (const auto& event : events) right += event.data_as<Order>()->total() == 5 ? 0 : 1;
    for (int i = 0; i < rounds; ++i) right += shared.data_as<Order>()->copy().total() == 5 ? 0 : 1;
  });
  EXPECT_EQ(right.load(), 2 * thread_count * rounds);
}

// Events of many sizes: some use a block of the pool, others are too large for the pool.
TEST(Webhook, EventsOfAnySize) {
  const Verifier verifier(secret, {.max_body = std::size_t{8} << 20U});
  std::optional<Event> kept;
  for (const std::size_t size : {0U, 10U, 2'000U, 60'000U, 75'000U, 90'000U, 3'000'000U, 100U}) {
    std::string body = R"({"id":7,"name":"x","data":{"list":[)";
    while (body.size() < size) body += "1,";
    body += R"(1],"text":")" + std::string(size, 't') + R"("}})";
    auto event = verifier.unwrap(body, webhooks::sign(body, secret));
    if (kept) {
      EXPECT_EQ(std::get<Resource>(kept->data()).value().find("text")->text().back(), 't');
    }
    const auto data = std::get<Resource>(event.data());
    EXPECT_EQ(data.value().find("text")->text(), std::string(size, 't'));
    EXPECT_EQ(event.raw(), body);
    if (size > 0) kept = std::move(event);

    // Among all texts of the same size, yyjson needs the most memory for nested arrays that are not closed.
    const std::string open = R"({"data":)" + std::string(size, '[');
    EXPECT_EQ(code_of([&] { (void)verifier.unwrap(open, webhooks::sign(open, secret)); }), ErrorCode::decode);
  }
}

}  // namespace
}  // namespace billcore
