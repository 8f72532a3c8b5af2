// Document::member() finds the same member as a scan of the object, whether or not the object is alike the others of
// its array.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "billcore/detail/document.hpp"
#include "billcore/json.hpp"
#include "support/json_text.hpp"

namespace billcore::detail {
namespace {

const std::vector<std::string> names{
    "", "a", "b", "id", "ix", "total", "state", "total_with_vat", std::string(70, 'n')};

std::shared_ptr<const Document> marked(const std::string& text) {
  auto document = Document::parse(SharedText::own(text));
  document->mark_alike(document->root());
  return document;
}

// Looks up each name with member() and with a scan, in each item and in the objects inside the items, and compares what
// they find.
void expect_same(const Document& document, const std::string& text) {
  const auto compare = [&](const Node* object) {
    for (const auto& name : names)
      EXPECT_EQ(document.member(object, name), member(object, name)) << name << " in " << text;
  };
  const Node* item = first(document.root());
  for (std::size_t left = size(document.root()); left > 0; --left, item = next(item)) {
    compare(item);
    for (const auto& name : names) compare(member(item, name));
  }
}

std::string random_value(std::mt19937& random) {
  switch (random() % 6) {
    case 0:
      return R"({"id":[1,2],"total":{}})";
    case 1:
      return "{}";
    case 2:
      return R"(["id","a",{"state":1}])";
    case 3:
      return "null";
    case 4:
      return R"("id")";
    default:
      return std::to_string(random());
  }
}

TEST(Layout, FindsWhatAScanFinds) {
  std::mt19937 random(60);  // NOLINT: every run must be the same
  for (int round = 0; round < 3000; ++round) {
    // An object may have a name twice. An item of the list may differ from the others in one name, or have a member more.
    std::vector<std::string> members;
    for (auto count = random() % 12; count > 0; --count) members.push_back(names[random() % names.size()]);
    std::string text = "[";
    for (auto items = random() % 5; items > 0; --items) {
      auto own = members;
      if (random() % 8 == 0 && !own.empty()) own[random() % own.size()] = names[random() % names.size()];
      if (random() % 8 == 0) own.push_back(names[random() % names.size()]);
      text += text.size() > 1 ? "," : "";
      std::string object;
      for (const auto& name : own) {
        object += object.empty() ? "{" : ",";
        object += '"' + name + "\":" + random_value(random);
      }
      text += object.empty() ? (random() % 2 == 0 ? "{}" : "7") : object + '}';
    }
    expect_same(*marked(text += ']'), text);
  }
}

TEST(Layout, TheLastOfEqualNamesCounts) {
  const auto document = marked(R"([{"a":1,"id":2,"ix":3},{"a":1,"id":2,"id":3},{"a":1,"ix":2,"id":3}])");
  std::int64_t sum = 0;
  const Node* item = first(document->root());
  for (int i = 0; i < 3; ++i, item = next(item)) {
    EXPECT_TRUE(Document::is_alike(item));
    std::int64_t number = 0;
    ASSERT_TRUE(document->int64_member(item, "id", number));
    sum = sum * 10 + number;
  }
  EXPECT_EQ(sum, 233);
}

TEST(Layout, ManyMembersAndLargeOnes) {
  for (const int count : {61, 62, 63, 300}) {
    std::string object = "{";
    for (int i = 0; i < count; ++i) object += '"' + std::to_string(i) + "\":[" + std::to_string(i) + "],";
    object += R"("id":7,"a":8})";
    const auto text = '[' + object + ',' + object + ']';
    const auto document = marked(text);
    EXPECT_EQ(Document::is_alike(first(document->root())), count + 2 <= 64);  // larger objects are scanned
    expect_same(*document, text);
  }
  std::string numbers = "[0";
  for (int i = 0; i < 70'000; ++i) numbers += ",1";
  const std::string object = R"({"a":1,"state":)" + numbers + R"(],"id":2})";
  const auto text = '[' + object + ',' + object + ']';
  expect_same(*marked(text), text);
  const std::string long_name(70'000, 'x');
  const auto document = marked("[{\"" + long_name + "\":1},{\"" + long_name + "\":2}]");
  EXPECT_NE(document->member(first(document->root()), long_name), nullptr);
}

TEST(Layout, AMarkedObjectIsAnObjectAsBefore) {
  const std::string text = R"([{"id":1,"a":{"b":2}},{"id":2,"a":{}}])";
  const auto document = marked(text);
  const Value list(document, document->root());
  EXPECT_TRUE(Document::is_alike(list.at(0).node()) && Document::is_alike(list.at(1).node()));
  EXPECT_EQ(list.at(0).kind(), Value::Kind::object);
  EXPECT_EQ(list.at(0).size(), 2U);
  EXPECT_EQ(list.at(1).raw(), R"({"id":2,"a":{}})");
  EXPECT_EQ(list.at(0).find("a")->path(), "[0].a");
  EXPECT_EQ(list, test::parse(text));
  EXPECT_NE(list.at(0), list.at(1));
}

TEST(Layout, OnlyItemsWithNamesOfTheSameLengthsAreMarked) {
  const auto document =
      marked(R"([{"id":1,"a":2},{"ix":1,"b":[2]},{"a":1,"id":2},{"id":1},{"id":1,"a":{"id":1,"a":2}},7])");
  std::string found;
  const Node* item = first(document->root());
  for (std::size_t left = size(document->root()); left > 0; --left, item = next(item)) {
    found += Document::is_alike(item) ? '1' : '0';
    const Node* const inner = member(item, "a");
    EXPECT_FALSE(Document::is_alike(inner) && kind(inner) == Value::Kind::object) << "an object in an item";
  }
  EXPECT_EQ(found, "110010");
}

TEST(Layout, WhatIsNoListOfObjectsIsLeft) {
  for (const std::string text :
       {"[]", "[1,2]", "[{}]", "[{},{}]", "[[],[]]", R"([1,{"id":2}])", R"([{"id":2},1,null])"}) {
    expect_same(*marked(text), text);
  }
}

}  // namespace
}  // namespace billcore::detail
