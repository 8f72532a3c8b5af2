#include "json/json_scan.hpp"

#include <gtest/gtest.h>

namespace billcore::detail {
namespace {

TEST(JsonScan, ALongTextIsLookedAtFirst) {
  constexpr std::size_t megabyte = std::size_t{1} << 20U;
  EXPECT_EQ(problem_of_extent(std::string(8 * megabyte, '[')),
            "the body is not valid JSON: it is nested deeper than 512 levels");
  std::string objects;
  while (objects.size() < 2 * megabyte) objects += R"({"a":)";
  EXPECT_EQ(problem_of_extent(objects), "the body is not valid JSON: it is nested deeper than 512 levels");
  // Brackets and commas inside a string do not count, even after an escaped quote.
  EXPECT_EQ(problem_of_extent("[\"" + std::string(2 * megabyte, '[') + "\"]"), "");
  EXPECT_EQ(problem_of_extent("[\"\\\"" + std::string(2 * megabyte, ',') + "\\\\\",1]"), "");
  const auto ones = [](std::size_t count) {
    std::string text = "[1";
    for (std::size_t i = 1; i < count; ++i) text += ",1";
    return text + "]";
  };
  EXPECT_EQ(problem_of_extent(ones(megabyte - 2)), "");  // fewer values than the limit, in 2 MiB of text
  EXPECT_EQ(problem_of_extent(ones(2 * megabyte)),
            "the body has over 1048576 values in 4194305 bytes, too many to load at once: request less");
  EXPECT_EQ(problem_of_extent(ones(2 * megabyte) + std::string(16 * megabyte, ' ')), "");
}

TEST(JsonScan, AWholeTextIsRecognisedByItsEnd) {
  for (const auto* whole :
       {"{}", " [1, 2] \n", R"({"a":{"b":"}"}})", R"("text")", R"("\"")", "null", "true", "false"}) {
    EXPECT_TRUE(shows_its_end(whole)) << whole;
  }
  for (const auto* open : {"", " ", "{", R"({"a":"})", R"("text)", R"("\")", "12", "nul", "OK", "{}x", "{}{"}) {
    EXPECT_FALSE(shows_its_end(open)) << open;
  }
}

}  // namespace
}  // namespace billcore::detail
