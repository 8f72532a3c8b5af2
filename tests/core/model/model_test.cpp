// Tests the resource classes except for single getters, which webhook/webhook_test.cpp tests with the shared vectors.
#include "billcore/model.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "billcore/error.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"

namespace billcore {
namespace {

using test::error_of;

Subscription subscription(const std::string& json) { return Subscription(test::parse(json)); }

TEST(Subscription, UsableUntilEndsAt) {
  const Instant now = parse_time("2025-04-25T12:00:00Z")->at;
  const auto usable = [now](const std::string& status, const std::string& rest) {
    return subscription(R"({"status":")" + status + '"' + rest + '}').usable_at(now);
  };
  for (const char* status : {"active", "trialing", "delayed", "cancelled"}) {
    EXPECT_TRUE(usable(status, R"(,"ends_at":"2025-04-25T12:00:01Z")")) << status;
    EXPECT_FALSE(usable(status, R"(,"ends_at":"2025-04-25T12:00:00Z")")) << status;
    EXPECT_EQ(usable(status, R"(,"ends_at":null)"), status != std::string("cancelled")) << status;
    const auto missing = error_of([&] { (void)usable(status, ""); });
    EXPECT_EQ(missing.code(), ErrorCode::missing_field) << status;
    EXPECT_EQ(missing.detail().field_path, "ends_at");
    EXPECT_EQ(error_of([&] { (void)usable(status, R"(,"ends_at":7)"); }).code(), ErrorCode::decode) << status;
  }
  for (const char* status : {"pending", "future_start", "unpaid", "expired"}) {
    for (const char* ends : {"", R"(,"ends_at":null)", R"(,"ends_at":"2999-01-01T00:00:00Z")"}) {
      EXPECT_FALSE(usable(status, ends)) << status << ends;
    }
  }
  for (const char* ends : {"", R"(,"ends_at":null)", R"(,"ends_at":"1999-01-01T00:00:00Z")"}) {
    const auto unknown = error_of([&] { (void)usable("brand_new", ends); });
    EXPECT_EQ(unknown.code(), ErrorCode::decode) << ends;
    EXPECT_EQ(unknown.detail().field_path, "status");
  }
  EXPECT_EQ(error_of([&] { (void)subscription("{}").usable_at(now); }).code(), ErrorCode::missing_field);
}

TEST(Resource, CopyPinsOnlyItsOwnText) {
  const auto page = test::parse(R"({"data":[{"id":"a","price":"wrong"},{"id":"b"}]})");
  const std::weak_ptr<const detail::Document> watch = page.document();
  std::optional<Subscription> copy;
  {
    auto root = std::move(const_cast<Value&>(page));
    copy = Subscription(root.find("data")->at(0)).copy();
  }
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(copy->id(), Id("a"));
  EXPECT_EQ(copy->raw(), R"({"id":"a","price":"wrong"})");
  // The copy keeps its path in the event.
  EXPECT_EQ(error_of([&] { (void)copy->price(); }).message(), "data[0].price is a string, not an integer");
}

}  // namespace
}  // namespace billcore
