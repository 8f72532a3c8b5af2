#include "billcore/webhook.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

#include "support/json_text.hpp"
#include "support/read_path.hpp"

namespace billcore {
namespace {

using test::bytes_of;

const std::string secret = "0123456789abcdefghijklmnopqrstuv";

std::string body_of(const Value& vector) {
  if (const auto text = vector.find("body_text")) return std::string(text->text());
  if (const auto bytes = vector.find("body_b64")) return test::base64_decoded(bytes->text());
  std::string body;
  const auto parts = vector.find("body_parts").value();
  for (const auto part : parts) {
    const auto repeat = part.value().find("repeat").value();
    for (auto count = part.value().find("count").value().integer(); count > 0; --count) body += bytes_of(repeat);
  }
  return body;
}

ErrorCode code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.message().find('\n'), std::string::npos) << error.what();
    return error.code();
  }
  return ErrorCode::ok;
}

void expect_fields(const Event& event, const Value& fields, const std::string& name) {
  for (const auto field : fields) {
    const auto expected = field.value();
    const auto found = test::parse(test::read_path(event, field.name));
    if (expected.is_object() && expected.find("error")) {
      const auto error = found.find("error");
      ASSERT_TRUE(error) << name << ' ' << field.name << " gave " << found.raw();
      EXPECT_EQ(error->find("class").value().text(), expected.find("error")->text()) << name << ' ' << field.name;
    } else {
      EXPECT_EQ(found, expected) << name << ' ' << field.name << ": " << found.raw() << " not " << expected.raw();
    }
  }
}

TEST(Webhook, SharedVectors) {
  const auto file = test::parse_fixture("webhook_vectors.json");
  const auto cases = file.find("cases").value();
  ASSERT_GT(cases.size(), 200U);
  for (const auto entry : cases) {
    const auto vector = entry.value();
    const std::string name(vector.find("name").value().text());
    const auto body = body_of(vector);
    std::vector<std::string> secrets;
    const auto given = vector.find("secrets").value();
    for (const auto one : given) secrets.push_back(bytes_of(one.value()));
    const std::vector<std::string_view> views(secrets.begin(), secrets.end());
    std::optional<std::string> signature;
    if (const auto header = vector.find("signature"); header && !header->is_null()) signature = bytes_of(*header);
    VerifierOptions options;
    if (const auto limit = vector.find("max_body")) options.max_body = static_cast<std::size_t>(limit->integer());

    const auto expect = vector.find("expect").value();
    const auto verify = expect.find("verify").value().text();
    if (verify == "ConfigError") {
      EXPECT_EQ(code_of([&] { const Verifier refused(views, options); }), ErrorCode::config) << name;
      continue;
    }
    const Verifier verifier(views, options);
    std::size_t index = 99;
    const auto reason = verifier.check(body, signature, &index);
    EXPECT_EQ(to_string(reason), verify == "ok" ? std::string_view("none") : verify) << name;
    if (verify == "ok") {
      EXPECT_EQ(index, static_cast<std::size_t>(expect.find("secret_index")->integer())) << name;
    }
    if (const auto status = expect.find("http_status")) {
      EXPECT_EQ(suggested_http_status(reason), status->integer()) << name;
    }

    const auto unwrap = expect.find("unwrap").value().text();
    if (unwrap == "ok") {
      const auto event = verifier.unwrap(body, signature);
      EXPECT_EQ(event.raw(), body) << name;
      if (const auto fields = expect.find("fields")) expect_fields(event, *fields, name);
    } else {
      const auto expected = unwrap == "DecodeError" ? ErrorCode::decode : ErrorCode::signature;
      EXPECT_EQ(code_of([&] { (void)verifier.unwrap(body, signature); }), expected) << name;
    }
  }
}

TEST(Webhook, SignAgreesWithRfc4231) {
  // Test case 2: the key "Jefe" has 4 bytes, so the constructor that allows any key length is needed.
  const std::string_view key = "Jefe";
  const auto verifier = Verifier::allowing_any_key_length({&key, 1});
  EXPECT_EQ(verifier.check("what do ya want for nothing?",
                           "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
            SignatureReason::none);
  // Test case 6: a key longer than a block.
  const std::string large(131, '\xaa');
  const std::string_view view = large;
  EXPECT_EQ(Verifier::allowing_any_key_length({&view, 1})
                .check("Test Using Larger Than Block-Size Key - Hash Key First",
                       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
            SignatureReason::none);
  // Not in the RFC: a key of exactly one block (64 bytes) is used as it is; only longer keys are hashed.
  const std::string block(64, 'k');
  const std::string_view whole = block;
  EXPECT_EQ(Verifier::allowing_any_key_length({&whole, 1})
                .check("{}", "d76035d5eb586aa7440c5113bd8b8dfbbdbc7c043a2a2091c52613ddc264c4ad"),
            SignatureReason::none);
}

TEST(Webhook, LoudConstructorStillRefusesNoKey) {
  const std::string_view empty;
  EXPECT_EQ(code_of([&] { (void)Verifier::allowing_any_key_length({&empty, 1}); }), ErrorCode::config);
  EXPECT_EQ(code_of([&] { (void)Verifier::allowing_any_key_length({}); }), ErrorCode::config);
  for (const char* name : {"", "X\r\n", "a b", "X:"}) {
    EXPECT_EQ(code_of([&] { (void)Verifier(secret, {.header = name}); }), ErrorCode::config);
  }
  EXPECT_NO_THROW((void)Verifier(secret, {.header = "!#$%&'*+-.^_`|~09AZaz"}));  // all allowed characters
}

TEST(Webhook, FirstOfSeveralMatchesWins) {
  const std::string other(32, 'x');
  const Verifier verifier({other, secret, secret});
  const std::string signature = webhooks::sign("body", secret);
  EXPECT_EQ(verifier.verify("body", signature).secret_index(), 1U);
  EXPECT_EQ(verifier.secret_count(), 3U);
}

TEST(Webhook, RequestHeadersAreFoundWithoutCase) {
  const std::string body = R"({"id":1,"name":"test.hook","data":null})";
  const auto signature = webhooks::sign(body, secret);
  const Verifier verifier(secret);
  using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;
  EXPECT_EQ(verifier.unwrap_request(body, Pairs{{"Host", "x"}, {"SERVICE-signature", signature}}).name(), "test.hook");
  // A proxy may repeat a header; a repeated equal value is harmless.
  EXPECT_EQ(
      verifier.unwrap_request(body, Pairs{{"Service-Signature", signature}, {"service-signature", signature}}).id(),
      Id(1));
  // Some servers join repeated headers. find_signature() accepts a value that joins equal signatures; check() refuses
  // every joined value.
  for (const auto* between : {",", ", ", " ,\t ", ", ,"}) {
    const auto joined = std::string(signature).append(between).append(signature);
    const bool same = std::string_view(between) != ", ,";
    EXPECT_EQ(verifier.find_signature(Pairs{{"service-signature", joined}}) == signature, same) << between;
    EXPECT_EQ(verifier.find_signature(
                  Pairs{{"a", "b"}, {"Service-Signature", signature}, {"SERVICE-SIGNATURE", joined}}) == signature,
              same)
        << between;
    EXPECT_EQ(verifier.check(body, joined), SignatureReason::malformed) << between;
  }
  for (const auto& value : {' ' + signature, signature + ' ', signature + ',', ',' + signature,
                            signature + ";" + signature, signature + ',' + signature.substr(1)}) {
    EXPECT_NE(verifier.find_signature(Pairs{{"service-signature", value}}), signature) << value;
  }
  const auto forged = std::string(64, '0');
  const auto several = [&] {
    (void)verifier.unwrap_request(body, Pairs{{"Service-Signature", signature}, {"Service-Signature", forged}});
  };
  try {
    several();
    FAIL() << "two different signatures were accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.detail().reason, SignatureReason::malformed);
  }
  try {
    (void)verifier.unwrap_request(body, Pairs{{"X-Other", signature}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.detail().reason, SignatureReason::missing);
  }
  const Verifier renamed(secret, {.header = "X-Signature"});
  EXPECT_EQ(renamed.unwrap_request(body, Pairs{{"x-signature", signature}}).name(), "test.hook");
}

TEST(Webhook, NoSecretInAnyText) {
  const Verifier verifier(secret);
  for (const auto& signature : {std::string("x"), std::string(64, '0')}) {
    try {
      (void)verifier.verify("payload-that-must-not-show", signature);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.message().find(secret), std::string::npos);
      EXPECT_EQ(error.message().find("payload"), std::string::npos);
      EXPECT_EQ(error.message().find(webhooks::sign("payload-that-must-not-show", secret)), std::string::npos);
    }
  }
  try {
    const Verifier refused(secret.substr(1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message().find(secret.substr(1)), std::string::npos);
  }
}

TEST(Webhook, SharedBodyIsNotCopied) {
  auto body = SharedText::own(R"({"id":7,"name":"order.paid","account":1,"data":{"id":"o"}})");
  const char* where = body.text.data();
  const auto event = Verifier(secret).unwrap_shared(body, webhooks::sign(body.text, secret));
  EXPECT_EQ(event.raw().data(), where);
  EXPECT_EQ(webhooks::parse_unverified_shared(body).raw().data(), where);
}

TEST(Webhook, StoredBodyIsCopiedAndReadWithoutASignature) {
  std::optional<Event> event;
  {
    const std::string body = R"({"id":7,"name":"order.paid","account":1,"data":{"id":"o1","total":5}})";
    event = webhooks::parse_unverified(body);
  }
  EXPECT_EQ(event->type(), EventType::order_paid);
  EXPECT_EQ(event->data_as<Order>().value().total(), 5);
  for (const std::string& no_event : {std::string("[]"), std::string("{"), std::string(2'000'000, '[')}) {
    EXPECT_EQ(code_of([&] { (void)webhooks::parse_unverified(no_event); }), ErrorCode::decode);
  }
}

TEST(Webhook, EventAndItsDataOutliveEachOther) {
  std::optional<Order> order;
  {
    const std::string body = R"({"id":7,"name":"order.paid","account":1,"data":{"id":"o1","total":5}})";
    order = webhooks::unwrap(body, webhooks::sign(body, secret), secret).data_as<Order>();
  }
  ASSERT_TRUE(order);
  EXPECT_EQ(order->total(), 5);
  EXPECT_EQ(order->copy().id(), Id("o1"));
}

SignatureReason reason_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::signature) << error.what();
    return error.detail().reason;
  }
  return SignatureReason::none;
}

TEST(Webhook, StreamTakesPiecesOfAnySize) {
  std::string body(100'000, 'x');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 7);
  const Verifier verifier({std::string(32, 'o'), secret});
  const auto signature = webhooks::sign(body, secret);
  for (const std::size_t step : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, body.size()}) {
    auto stream = verifier.stream();
    stream.update("");
    for (std::size_t at = 0; at < body.size(); at += step) stream.update(std::string_view(body).substr(at, step));
    EXPECT_EQ(stream.finish(signature), 1U) << step;
  }
  auto cut = verifier.stream();
  cut.update(std::string_view(body).substr(1));
  EXPECT_EQ(reason_of([&] { (void)cut.finish(signature); }), SignatureReason::mismatch);
  EXPECT_EQ(verifier.matches(), (std::vector<std::uint64_t>{0, 5}));
}

TEST(Webhook, StreamRefusesAsVerifyDoes) {
  const Verifier verifier(secret, {.max_body = 10});
  const auto refused = [&](std::string_view body, std::optional<std::string_view> signature) {
    auto stream = verifier.stream();
    return reason_of([&] {
      stream.update(body);
      (void)stream.finish(signature);
    });
  };
  EXPECT_EQ(refused("12345678901", std::nullopt), SignatureReason::body_too_large);
  EXPECT_EQ(refused("1234567890", std::nullopt), SignatureReason::missing);
  EXPECT_EQ(refused("1234567890", "x"), SignatureReason::malformed);
  EXPECT_EQ(refused("1234567890", std::string(64, 'a')), SignatureReason::mismatch);

  auto large = verifier.stream();
  large.update("123456");
  EXPECT_EQ(reason_of([&] { large.update("123456"); }), SignatureReason::body_too_large);
  // After the stream has refused a piece, it refuses every further piece and the signature.
  EXPECT_EQ(reason_of([&] { large.update("1"); }), SignatureReason::body_too_large);
  EXPECT_EQ(reason_of([&] { (void)large.finish(webhooks::sign("1234561", secret)); }), SignatureReason::body_too_large);
  EXPECT_EQ(code_of([&] { (void)large.finish(std::nullopt); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { large.update("1"); }), ErrorCode::invalid_argument);
}

TEST(Webhook, StreamOutlivesItsVerifier) {
  auto stream = Verifier(secret).stream();
  stream.update("body");
  EXPECT_EQ(stream.finish(webhooks::sign("body", secret)), 0U);
}

TEST(Webhook, FreshnessIsJudgedBehindTheSignature) {
  using namespace std::chrono_literals;
  const auto now = std::chrono::sys_days(std::chrono::year(2025) / 4 / 25) + 9h + 30min;
  VerifierOptions options{.freshness = 5min, .clock = [now] { return now; }};
  const Verifier verifier(secret, options);
  const auto judged = [&](const std::string& body) {
    const auto signature = webhooks::sign(body, secret);
    const auto reason = verifier.check(body, signature);
    EXPECT_EQ(reason_of([&] { (void)verifier.verify(body, signature); }), reason) << body;
    return reason;
  };
  const auto event = [](std::string_view created, std::string_view name = "order.paid") {
    return R"({"id":1,"name":")" + std::string(name) + R"(","created_at":)" + std::string(created) + "}";
  };
  EXPECT_EQ(judged(event(R"("2025-04-25T09:25:00Z")")), SignatureReason::none);
  EXPECT_EQ(judged(event(R"("2025-04-25T11:35:00+02:00")")), SignatureReason::none);
  EXPECT_EQ(judged(event(R"("2025-04-25T09:24:59.999Z")")), SignatureReason::stale);
  EXPECT_EQ(judged(event(R"("2025-04-25T09:35:01Z")")), SignatureReason::stale);
  EXPECT_EQ(judged(event("null")), SignatureReason::stale);
  EXPECT_EQ(judged(event("null", "test.hook")), SignatureReason::none);
  EXPECT_EQ(judged("no JSON"), SignatureReason::stale);
  EXPECT_EQ(verifier.check(event("null"), std::string(64, 'a')), SignatureReason::mismatch);

  EXPECT_EQ(code_of([&] { (void)verifier.stream(); }), ErrorCode::config);
  options.freshness = 0s;
  EXPECT_EQ(code_of([&] { const Verifier refused(secret, options); }), ErrorCode::config);
  options = {.freshness = 1s, .clock = []() -> decltype(now) { throw std::runtime_error("no clock"); }};
  const Verifier broken(secret, options);
  const auto old = event(R"("2025-04-25T09:30:00Z")");
  EXPECT_EQ(broken.check(old, webhooks::sign(old, secret)), SignatureReason::stale);
  EXPECT_THROW((void)broken.unwrap(old, webhooks::sign(old, secret)), std::runtime_error);
  // Without a clock option the verifier uses the current time, so the event is too old.
  const Verifier real(secret, {.freshness = 24h});
  EXPECT_EQ(real.check(old, webhooks::sign(old, secret)), SignatureReason::stale);
}

// Eight threads share one Verifier. Each event is read in a different thread from the one that made it; the last
// events are read after the Verifier is destroyed. This test also runs under ThreadSanitizer.
TEST(Webhook, OneVerifierManyThreads) {
  constexpr int thread_count = 8;
  constexpr int rounds = 200;
  const std::string body = R"({"id":7,"name":"order.paid","account":1,"data":{"id":"o1","total":5}})";
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
  verifier.reset();
  in_threads([&](std::size_t own) {
    auto events = std::move(made[(own + 1) % thread_count]);
    for (const auto& event : events) right += event.data_as<Order>()->total() == 5 ? 0 : 1;
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
