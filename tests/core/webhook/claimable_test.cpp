#include <gtest/gtest.h>

#include <string>

#include "billcore/error.hpp"
#include "billcore/webhook.hpp"
#include "support/json_text.hpp"

namespace billcore {
namespace {

int answer_to(const std::string& body) {
  try {
    webhooks::parse_unverified(body).require_claimable();
    return 200;
  } catch (const Error& error) {
    const auto code = error.code();
    const bool unreadable =
        code == ErrorCode::decode || code == ErrorCode::missing_field || code == ErrorCode::out_of_range;
    EXPECT_EQ(error.message().find('\n'), std::string::npos) << error.what();
    return unreadable ? 400 : 500;
  }
}

TEST(Claimable, SharedDeliveries) {
  const auto file = test::parse_fixture("deliveries.json");
  const auto deliveries = file.find("deliveries").value();
  ASSERT_GT(deliveries.size(), 50U);
  for (const auto each : deliveries) {
    const auto delivery = each.value();
    EXPECT_EQ(answer_to(std::string(delivery.find("body")->text())), delivery.find("status")->integer())
        << delivery.find("name")->text();
  }
}

}  // namespace
}  // namespace billcore
