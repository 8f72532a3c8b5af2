#include "billcore/webhook.hpp"

#include <gtest/gtest.h>

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
  const auto file = test::parse_file(BILLCORE_FIXTURES "/webhook_vectors.json");
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
  // Test case 2: key "Jefe", 4 bytes, so through the loud constructor.
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
}

TEST(Webhook, LoudConstructorStillRefusesNoKey) {
  const std::string_view empty;
  EXPECT_EQ(code_of([&] { (void)Verifier::allowing_any_key_length({&empty, 1}); }), ErrorCode::config);
  EXPECT_EQ(code_of([&] { (void)Verifier::allowing_any_key_length({}); }), ErrorCode::config);
  for (const char* name : {"", "X\r\n", "a b", "X:"}) {
    EXPECT_EQ(code_of([&] { (void)Verifier(secret, {name, default_max_body}); }), ErrorCode::config);
  }
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
  // A proxy may repeat a header; the same value twice says nothing new.
  EXPECT_EQ(
      verifier.unwrap_request(body, Pairs{{"Service-Signature", signature}, {"service-signature", signature}}).id(),
      Id(1));
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
  const Verifier renamed(secret, {"X-Signature", default_max_body});
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

}  // namespace
}  // namespace billcore
