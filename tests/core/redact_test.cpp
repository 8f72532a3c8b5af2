#include "redact.hpp"

#include <gtest/gtest.h>

namespace billcore::detail {
namespace {

TEST(Scrub, KeyAndPortalUrls) {
  EXPECT_EQ(scrub("key k3y and k3yk3y", "k3y"), "key [redacted] and [redacted][redacted]");
  EXPECT_EQ(scrub("nothing", ""), "nothing");
  EXPECT_EQ(scrub(R"({"cancel_url": "https:\/\/x\"y","invoices_url":null,"a":"update_card_url"})", "k"),
            R"({"cancel_url": "[redacted]","invoices_url":null,"a":"update_card_url"})");
  EXPECT_EQ(scrub(R"({"update_card_url":"https://x)", "k"), R"({"update_card_url":"[redacted])");
  EXPECT_EQ(scrub(R"({"cancel_url":"a\)", "k"), R"({"cancel_url":"[redacted])");
}

TEST(Scrub, Urls) {
  EXPECT_EQ(scrub("see cancel_url=https://x/S?s=1 now", "k"), "see cancel_url=[redacted] now");
  EXPECT_EQ(scrub(R"({"a":"https:\/\/x\/S","b":["http://y"]})", "k"), R"({"a":"[redacted]","b":["[redacted]"]})");
  EXPECT_EQ(scrub(R"("{\"u\":\"https://x\"}")", "k"), R"("{\"u\":\"[redacted]\"}")");
  EXPECT_EQ(scrub("?to=https%3A%2F%2Fx%2FS%3Fs=1 http:&#47;&#x2f;y", "k"), "?to=[redacted] [redacted]");
  EXPECT_EQ(scrub("http and https: no url", "key"), "http and https: no url");
}

TEST(Scrub, EscapedEchoes) {
  EXPECT_EQ(scrub(R"("a\"b\\c")", R"(a"b\c)"), R"("[redacted]")");
  EXPECT_EQ(scrub(R"({"message":"bad key ab\/cd"})", "ab/cd"), R"({"message":"bad key [redacted]"})");
  EXPECT_EQ(scrub("?key=ab%2Fcd", "ab/cd"), "?key=[redacted]");
  EXPECT_EQ(scrub(R"({"m":"got {\"cancel_url\":\"https://x?s=abc\"}"})", "k3y"),
            R"({"m":"got {\"cancel_url\":\"[redacted]\"}"})");
}

TEST(Scrub, EveryCharacterMayBeEscaped) {
  const auto is_hidden = [](std::string_view text, std::string_view key) {
    return scrub(std::string("<").append(text).append(">"), key) == "<[redacted]>";
  };
  EXPECT_TRUE(is_hidden(R"(\u0061\u002F\u002b)", "a/+"));
  EXPECT_TRUE(is_hidden(R"(a/b\"c\\d)", R"(a/b"c\d)"));
  EXPECT_TRUE(is_hidden(R"(a\\\/b\\\"c\\\\d)", R"(a/b"c\d)"));
  EXPECT_TRUE(is_hidden(R"(a\\\\b\u005Cc)", R"(a\\b\c)"));
  EXPECT_TRUE(is_hidden("a/b%2b%3D", "a/b+="));
  EXPECT_TRUE(is_hidden("%61%252F%2525", "a/%"));
  EXPECT_TRUE(is_hidden("a&amp;&lt;&GT;", "a&<&GT;"));
  EXPECT_TRUE(is_hidden("&#97;&#x2F;&#043;&amp;#x3d;&quot;&apos;&gt;&#38;", "a/+=\"'>&"));
  for (const char* text : {"\\", "%", "&", "%2", "&#", "&#x", "&#;", "\\u", "\\u00", "&#47", "%2G", "&amp;", "b"}) {
    EXPECT_EQ(scrub(text, "a/"), text);
    const auto begun = std::string("a").append(text);
    EXPECT_EQ(scrub(begun, "a/"), begun);
  }
}

TEST(Scrub, EscapesWithoutEnd) {
  for (const char* part : {"\\", "%25", "&amp;", "a%25", "a\\"}) {
    std::string body;
    while (body.size() < 2'000'000) body += part;
    EXPECT_EQ(scrub(body, "a/b"), body);  // quadratic, this would take minutes
  }
}

TEST(Scrub, OnePassHoweverManyHits) {
  std::string body;
  for (int i = 0; i < 200'000; ++i) body += R"("cancel_url":"x",k3y)";
  EXPECT_EQ(scrub(body, "k3y", 40), R"("cancel_url":"[redacted]",[redacted]"can)");
  EXPECT_EQ(scrub(body, "k3y").size(), std::size_t{200'000} * 36);  // quadratic, this would take minutes
}

TEST(OneLine, CutsAtACharacter) {
  EXPECT_EQ(one_line("a\r\nb\tc", 10), "a  b c");
  EXPECT_EQ(one_line("a\x7F-\x1F-~", 10), "a - -~");  // DEL, too
  EXPECT_EQ(one_line("aå", 2), "a...");
  EXPECT_EQ(one_line("aå", 3), "aå");
}

}  // namespace
}  // namespace billcore::detail
