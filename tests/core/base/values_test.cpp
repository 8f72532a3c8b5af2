#include "billcore/values.hpp"

#include <gtest/gtest.h>

namespace billcore {
namespace {

constexpr std::int64_t second = 1'000'000;

TEST(Time, Instants) {
  const auto micros = [](std::string_view text) { return parse_time(text).value().at.time_since_epoch().count(); };
  EXPECT_EQ(micros("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(micros("2025-04-25T09:30:00+02:00"), 1'745'566'200 * second);
  EXPECT_EQ(micros("2025-04-25T07:30:00"), 1'745'566'200 * second);  // without an offset the time is UTC
  EXPECT_EQ(micros("2025-04-25 07:30"), 1'745'566'200 * second);
  EXPECT_EQ(micros("2025-04-25t07:30z"), 1'745'566'200 * second);
  EXPECT_EQ(micros("2025-04-25T02:00:00-0530"), 1'745'566'200 * second);
  EXPECT_EQ(micros("2025-04-25T09:30:00+02"), 1'745'566'200 * second);
  EXPECT_EQ(micros("1969-12-31T23:59:59.5Z"), -500'000);
  EXPECT_EQ(micros("2024-02-29T00:00:00.1234567Z"), 1'709'164'800 * second + 123'456);
  EXPECT_EQ(micros("2016-12-31T23:59:60Z"), 1'483'228'800 * second);
}

TEST(Time, KeepsTextAndOffset) {
  const auto time = parse_time("2025-04-25T02:00:00-05:30").value();
  EXPECT_EQ(time.text, "2025-04-25T02:00:00-05:30");
  EXPECT_EQ(time.offset_minutes, -330);
  EXPECT_EQ(parse_time("2025-04-25T02:00:00Z")->offset_minutes, 0);
  EXPECT_FALSE(parse_time("2025-04-25T02:00:00")->offset_minutes);
}

TEST(Time, TextsThatAreNoTimeAreRefused) {
  for (const std::string_view text :
       {"", "2025", "2025-04-25", "2025-02-29T00:00:00Z", "2025-13-01T00:00:00Z", "2025-04-25T24:00:00Z",
        "2025-04-25T00:60:00Z", "2025-04-25T00:00:61Z", "2025-04-25T00:00:00.Z", "2025-04-25T00:00:00+",
        "2025-04-25T00:00:00+1", "2025-04-25T00:00:00+25:00", "2025-04-25T00:00:00+02:60", "2025-04-25T00:00:00Zx",
        " 2025-04-25T00:00:00Z", "2025-04-25T00:00:00+02:", "-025-04-25T00:00:00Z"}) {
    EXPECT_FALSE(parse_time(text)) << text;
  }
}

TEST(Id, TextAndNumberDiffer) {
  EXPECT_EQ(Id(7), Id::from_digits("7"));
  EXPECT_NE(Id(7), Id("7"));
  EXPECT_TRUE(same_id(Id(7), Id("7")));
  EXPECT_TRUE(same_id("7", 7));
  EXPECT_TRUE(same_id(Id::from_digits("123456789012345678901234567890"), "123456789012345678901234567890"));
  EXPECT_FALSE(same_id(7, "07"));
  EXPECT_FALSE(same_id("a", "A"));
  EXPECT_FALSE(same_id("a", std::string_view("a\0", 2)));
  EXPECT_EQ(Id(std::int64_t{-1}).text(), "-1");
}

}  // namespace
}  // namespace billcore
