// The getters themselves are checked with the shared vectors (webhook_test.cpp); here is what those cannot show.
#include "billcore/model.hpp"

#include <gtest/gtest.h>

#include "billcore/error.hpp"
#include "support/json_text.hpp"

namespace billcore {
namespace {

Subscription subscription(const std::string& json) { return Subscription(test::parse(json)); }

TEST(Subscription, UsableUntilEndsAt) {
  const std::int64_t now = parse_time("2025-04-25T12:00:00Z")->unix_micros;
  EXPECT_TRUE(subscription(R"({"status":"active"})").usable_at(now));
  EXPECT_TRUE(subscription(R"({"status":"trialing","ends_at":null})").usable_at(now));
  EXPECT_TRUE(subscription(R"({"status":"cancelled","ends_at":"2025-04-25T12:00:01Z"})").usable_at(now));
  EXPECT_FALSE(subscription(R"({"status":"cancelled","ends_at":"2025-04-25T12:00:00Z"})").usable_at(now));
  EXPECT_FALSE(subscription(R"({"status":"cancelled"})").usable_at(now));
  EXPECT_FALSE(subscription(R"({"status":"active","ends_at":"2025-04-01T00:00:00Z"})").usable_at(now));
  for (const char* status : {"pending", "future_start", "unpaid", "expired", "brand_new"}) {
    EXPECT_FALSE(subscription(std::string(R"({"status":")") + status + "\"}").usable_at(now)) << status;
  }
}

TEST(Resource, AbsentNullAndUnknownAreToldApart) {
  const auto view = subscription(R"({"reference_id":null,"status":"brand_new","extra":[1]})");
  EXPECT_FALSE(view.reference_id());
  EXPECT_TRUE(view.contains("reference_id"));
  EXPECT_FALSE(view.reference_name());
  EXPECT_FALSE(view.contains("reference_name"));
  EXPECT_EQ(view.status(), "brand_new");
  EXPECT_EQ(view.find("extra")->raw(), "[1]");
  EXPECT_EQ(view.response_info(), nullptr);
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
  try {
    (void)copy->price();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "data[0].price is a string, not an integer");  // still says where it came from
  }
}

TEST(Resource, EqualByContent) {
  EXPECT_EQ(subscription(R"({"id":1,"price":2})"), subscription(R"({"price":2, "id":1})"));
  EXPECT_NE(subscription(R"({"id":1})"), subscription(R"({"id":"1"})"));
}

TEST(CustomField, ValueIsAnyJson) {
  const CustomFieldValue field(test::parse(R"({"id":3,"label":"L","type":"t","value":{"a":[null]}})"));
  EXPECT_EQ(field.field_value().raw(), R"({"a":[null]})");
  EXPECT_TRUE(CustomFieldValue(test::parse(R"({"value":null})")).field_value().is_null());
  EXPECT_THROW((void)CustomFieldValue(test::parse("{}")).field_value(), Error);
}

}  // namespace
}  // namespace billcore
