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

TEST(OneLine, CutsAtACharacter) {
  EXPECT_EQ(one_line("a\r\nb\tc", 10), "a  b c");
  EXPECT_EQ(one_line("aå", 2), "a...");
  EXPECT_EQ(one_line("aå", 3), "aå");
}

}  // namespace
}  // namespace billcore::detail
