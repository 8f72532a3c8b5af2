#include "billcore/json.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "base/utf8.hpp"
#include "billcore/detail/document.hpp"
#include "billcore/error.hpp"
#include "json/allocator.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"

namespace billcore {
namespace {

using test::error_of;
using test::parse;

std::string decode_problem(const std::string& text) {
  try {
    (void)parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::decode);
    return error.message();
  }
  return {};
}

TEST(Json, RefusesWhatIsNotStrictJson) {
  for (const std::string text : {"", " ", "{", "[1,]", "{\"a\":1}x", "\xEF\xBB\xBF{}", "\"\xFF\"", "\"\\ud800\"", "nul",
                                 "01", "1.", "NaN", "'a'", "{a:1}", "[1] // c", "\"a\nb\"", "\xC0\x80"}) {
    EXPECT_NE(decode_problem(text), "") << text;
  }
  EXPECT_NE(decode_problem(std::string("{}\0", 3)), "");
}

TEST(Json, NestingEndsAt512) {
  const auto nested = [](int depth, const std::string& inner = "") {
    return std::string(depth, '[') + inner + std::string(depth, ']');
  };
  EXPECT_EQ(decode_problem(nested(512)), "");
  EXPECT_NE(decode_problem(nested(513)).find("512"), std::string::npos);
  // A scalar adds no level; the deepest container counts, wherever it is.
  EXPECT_EQ(decode_problem(nested(512, "0,\"[\"")), "");
  for (const char* inner : {R"([{"a":[],"b":1}],1)", R"(1,[{"a":{}}])"}) {
    EXPECT_EQ(decode_problem(nested(509, inner)), "") << inner;
    EXPECT_NE(decode_problem(nested(510, inner)), "") << inner;
  }
  EXPECT_NE(decode_problem(nested(200'000)), "");
  std::string ones = "1";
  for (int i = 0; i < 300; ++i) ones += ",1";
  const auto closed = '[' + nested(300, ones) + ',';  // its levels do not count for what follows
  EXPECT_EQ(decode_problem(closed + nested(300, ones) + ']'), "");
  EXPECT_NE(decode_problem(closed + nested(512) + ']'), "");
  // The limit of 512 applies to the depth of nesting, not to the number of arrays.
  std::string wide = "[";
  for (int i = 0; i < 2000; ++i) wide += "[[]],";
  EXPECT_EQ(decode_problem(wide + "1]"), "");
}

// Some texts have more values than fit into a block of the pool; others are parsed while all blocks are in use.
TEST(Json, AnswersAreTheSameInsideAndOutsideOfAPool) {
  const auto pool = std::make_shared<detail::DocumentPool>(2);
  std::string dense = "[";
  for (int i = 0; i < 50'000; ++i) dense += "1,";
  std::string wide = "[";
  for (int i = 0; i < 2'000; ++i) wide += R"({"id":"ord_1","state":"paid"},)";
  std::vector<Value> kept;
  for (int round = 0; round < 3; ++round) {
    for (const auto& text :
         {dense + "1]", wide + "1]", std::string(R"({"a":{}})"), std::string(300, '[') + std::string(300, ']')}) {
      auto document = detail::Document::parse_answer(pool, SharedText::own(text), nullptr);
      const auto* root = document->root();
      kept.emplace_back(std::move(document), root);
      EXPECT_EQ(kept.back(), parse(text));
      EXPECT_EQ(kept.back().raw(), text);
    }
    EXPECT_THROW(static_cast<void>(detail::Document::parse_answer(pool, SharedText::own("[[[["), nullptr)), Error);
  }
  EXPECT_EQ(detail::DocumentPool::take(pool, 100), nullptr);
  kept.clear();
  auto* const block = detail::DocumentPool::take(pool, 100);
  ASSERT_NE(block, nullptr);
  block->release();
}

TEST(Json, LastOfEqualNamesWins) {
  const auto value = parse(R"({"a":1,"b":{"a":0},"a":2})");
  EXPECT_EQ(value.find("a")->integer(), 2);
  EXPECT_EQ(value.size(), 3U);
}

TEST(Json, NamesOfAnyLengthAreFoundAndToldApart) {
  const auto named = [](std::size_t length, std::size_t place) {  // a name of 'x' with one 'y' at `place`
    std::string name(length, 'x');
    if (place < length) name[place] = 'y';
    return name;
  };
  std::string text = "{";
  for (std::size_t length = 0; length <= 40; ++length) {
    for (std::size_t place = 0; place <= length; ++place) {
      text += '"' + named(length, place) + "\":[" + std::to_string(length) + ",{\"\":" + std::to_string(place) + "}],";
    }
  }
  const auto value = parse(text + "\"x\":0}");
  EXPECT_EQ(value.find("x")->integer(), 0);
  for (std::size_t length = 0; length <= 40; ++length) {
    for (std::size_t place = 0; place <= length; ++place) {
      if (length == 1 && place == 1) continue;  // another member has this name, and find() returns the last one
      const auto found = value.find(named(length, place));
      ASSERT_TRUE(found) << length;
      EXPECT_EQ(found->at(0).integer(), static_cast<std::int64_t>(length));
      EXPECT_EQ(found->at(1).find("")->integer(), static_cast<std::int64_t>(place));
    }
  }
  EXPECT_FALSE(value.find(std::string(41, 'x')));
  EXPECT_FALSE(value.find("xz"));
}

TEST(Json, IntegersKeepTheirDigits) {
  const auto value =
      parse("[9223372036854775807,-9223372036854775808,9223372036854775808,123456789012345678901234567890]");
  EXPECT_EQ(value.at(0).integer(), INT64_MAX);
  EXPECT_EQ(value.at(1).integer(), INT64_MIN);
  for (const std::size_t large : {2U, 3U}) {
    EXPECT_EQ(value.at(large).kind(), Value::Kind::integer);
    EXPECT_EQ(error_of([&] { (void)value.at(large).integer(); }).code(), ErrorCode::out_of_range);
  }
  EXPECT_EQ(value.at(3).raw(), "123456789012345678901234567890");
  EXPECT_DOUBLE_EQ(value.at(3).real(), 123456789012345678901234567890.0);
}

TEST(Json, WrongKindNamesThePath) {
  const auto value = parse(R"({"data":{"items":[0,{"x y":"text"}]}})");
  const auto inner = value.find("data")->find("items")->at(1).find("x y").value();
  EXPECT_EQ(inner.path(), "data.items[1].x y");
  EXPECT_EQ(error_of([&] { (void)inner.integer(); }).message(), "data.items[1].x y is a string, not an integer");
}

// raw() and path() rely on yyjson's document layout: check both on a few hundred random documents.
std::string random_json(std::mt19937& random, int depth) {
  const auto pick = [&](unsigned n) { return std::uniform_int_distribution<unsigned>(0, n - 1)(random); };
  const std::string space(pick(3), ' ');
  switch (depth > 4 ? pick(6) : pick(9)) {
    case 0:
      return space + "null";
    case 1:
      return space + "true" + space;
    case 2:
      return space + std::to_string(static_cast<int>(pick(1000)) - 500);
    case 3:
      return "-1.5e-3" + space;
    case 4:
      return space + R"("a\"],}{[:\\")";
    case 5:
      return R"("\u00e5")" + space;
    case 6:
    case 7: {
      std::string out = space + "{";
      for (unsigned i = pick(4); i > 0; --i) {
        out +=
            "\"k" + std::to_string(i) + "\\\"{\"" + space + ":" + random_json(random, depth + 1) + (i > 1 ? "," : "");
      }
      return out + "}" + space;
    }
    default: {
      std::string out = "[" + space;
      for (unsigned i = pick(4); i > 0; --i) out += random_json(random, depth + 1) + (i > 1 ? " ," : "");
      return out + "]";
    }
  }
}

void expect_raw_agrees(const Value& value) {
  EXPECT_EQ(parse(std::string(value.raw())), value) << value.path();
  if (!value.raw().empty()) {
    EXPECT_FALSE(std::isspace(static_cast<unsigned char>(value.raw().front())));
    EXPECT_FALSE(std::isspace(static_cast<unsigned char>(value.raw().back())));
  }
  for (const auto member : value) {
    const auto inner = member.value();
    EXPECT_TRUE(inner.path().ends_with(value.is_object() ? std::string(member.name) : "]"));
    expect_raw_agrees(inner);
  }
}

TEST(Json, RawTextOfEveryValue) {
  std::mt19937 random(20250425);
  for (int i = 0; i < 500; ++i) {
    const auto text = random_json(random, 0);
    expect_raw_agrees(parse(text));
  }
}

TEST(Json, RawTextInAnyOrder) {
  // raw() caches the position of the last text that it found; texts before that position must be found as well.
  const auto value = parse(R"([ {"a": 1}, [2 , 3], "x" , 4 ])");
  for (const std::size_t index : {3U, 0U, 2U, 1U, 1U, 3U}) {
    constexpr std::array<std::string_view, 4> texts{R"({"a": 1})", "[2 , 3]", R"("x")", "4"};
    EXPECT_EQ(value.at(index).raw(), texts.at(index));
  }
  EXPECT_EQ(value.raw(), R"([ {"a": 1}, [2 , 3], "x" , 4 ])");
}

TEST(Json, Equality) {
  EXPECT_EQ(parse(R"({"a":1,"b":[1,2]})"), parse(R"({ "b":[1, 2], "a":1 })"));
  EXPECT_NE(parse("1"), parse("1.0"));
  EXPECT_NE(parse(R"({"a":1})"), parse(R"({"a":1,"b":null})"));
  EXPECT_EQ(parse(R"({"a":0,"a":1})"), parse(R"({"a":1})"));
  EXPECT_NE(parse("[1,2]"), parse("[2,1]"));
  // The objects on all 60 levels repeat a name. The comparison must visit each value only once: visiting values
  // repeatedly would take exponential time.
  std::string doubled = "1";
  for (int i = 0; i < 60; ++i) doubled = R"({"a":)" + doubled + R"(,"a":)" + (i < 10 ? doubled : "2") + "}";
  EXPECT_EQ(parse(doubled), parse(doubled));
  EXPECT_NE(parse("123456789012345678901"), parse("123456789012345678902"));
}

TEST(JsonObject, WritesInOrderAndReplaces) {
  JsonObject object;
  object.set("b", 1).set("a", "å/\"").set("c", true).set_null("d").set_json("e", " [1.50, 1e400 ] ");
  EXPECT_EQ(object.dump(), "{\"b\":1,\"a\":\"å/\\\"\",\"c\":true,\"d\":null,\"e\":[1.50,1e400]}");
  object.set("a", 2);
  const auto copy = object;
  EXPECT_EQ(copy.dump(), R"({"b":1,"a":2,"c":true,"d":null,"e":[1.50,1e400]})");
  EXPECT_TRUE(JsonObject().empty());
}

TEST(JsonObject, RefusesWhatIsNotText) {
  JsonObject object;
  EXPECT_THROW(object.set("a", "\xFF"), Error);
  EXPECT_THROW(object.set("\xC3", 1), Error);
  EXPECT_THROW(object.set_json("a", "{"), Error);
  EXPECT_THROW(object.set_json("a", ""), Error);
}

TEST(Utf8, AgreesWithTheRules) {
  for (const std::string good : {"", "a", "å", "€", "😀", "\xED\x9F\xBF", "\xEE\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(detail::valid_utf8(good)) << good;
  }
  for (const std::string bad : {"\x80", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
                                "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "a\xFF"}) {
    EXPECT_FALSE(detail::valid_utf8(bad));
  }
}

}  // namespace
}  // namespace billcore
