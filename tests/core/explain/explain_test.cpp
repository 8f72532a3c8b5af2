// Tests properties of explain() that the shared cases do not cover; the conformance tests run the shared cases.
#include <gtest/gtest.h>

#include <chrono>

#include "billcore/webhook.hpp"

namespace billcore {
namespace {

const std::string secret = "0123456789abcdefghijklmnopqrstuv";
const std::string body = R"({"id":1,"name":"order.paid","account":7,"data":{"total":19900}})";

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Explain, FreshnessIsMentionedButNotJudged) {
  // The verifier refuses the event because of its age; the text of explain() mentions `freshness`.
  VerifierOptions options;
  options.freshness = std::chrono::seconds(1);
  const auto signature = webhooks::sign(body, secret);
  EXPECT_EQ(Verifier(secret, options).check(body, signature), SignatureReason::stale);
  EXPECT_TRUE(says(webhooks::explain(body, signature, secret), "its age (freshness)"));
}

TEST(Explain, DeepAndWideJsonStaysWithinBounds) {
  // If explain() indented this document, the text would be a thousand times as long as the document.
  std::string deep = std::string(500, '[') + "0";
  for (int i = 0; i < 100'000; ++i) deep += ",0";
  deep += std::string(500, ']');
  const auto text = webhooks::explain(deep, std::string(64, '0'), secret);
  EXPECT_TRUE(text.starts_with("No cause found: ")) << text;
}

TEST(Explain, ManySecrets) {
  std::vector<std::string> secrets;
  for (int i = 0; i < 100; ++i) secrets.push_back("secret-number-" + std::to_string(100'000 + i) + "............");
  const std::vector<std::string_view> views(secrets.begin(), secrets.end());
  const auto text = webhooks::explain(body + "\r\n", webhooks::sign(body, secrets[70]), views);
  EXPECT_TRUE(says(text, "secret 71 of 100")) << text;
  EXPECT_TRUE(says(text, "a line end was added")) << text;
}

}  // namespace
}  // namespace billcore
