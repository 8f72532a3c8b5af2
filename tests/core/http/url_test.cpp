// Tests the rules of URLs that no row of tests/fixtures/bad_input.json can express.
#include "http/url.hpp"

#include <gtest/gtest.h>

#include "billcore/error.hpp"

namespace billcore::detail {
namespace {

TEST(BaseUrl, PlainHttpOnLoopbackOnly) {
  for (const char* url : {"http://127.0.0.1:8080/a", "http://127.1.2.3/a", "http://[::1]:80/a", "http://localhost/a",
                          "http://LOCALHOST/a"}) {
    EXPECT_EQ(checked_base_url(url, false), url);
  }
  for (const char* url : {"http://example.com/a", "http://127.0.0.1.example.com/a", "http://localhost.example/a",
                          "http://10.0.0.1/a", "http://[::2]/a", "http://127.example/a"}) {
    EXPECT_THROW((void)checked_base_url(url, false), Error) << url;
    EXPECT_EQ(checked_base_url(url, true), url);
  }
}

// A name of digits that is not an IP address is resolved by DNS.
TEST(BaseUrl, ANameOfDigitsIsNotLoopback) {
  for (const char* name : {"127.", "127..1", "127.0.0.256", "127.0.0.1.1", "1270.0.1", "127.0.0"}) {
    EXPECT_FALSE(is_loopback(name)) << name;
  }
  for (const char* name : {"127.0.0.1", "127.255.255.254", "::1", "LocalHost"}) EXPECT_TRUE(is_loopback(name)) << name;
}

TEST(PathSegment, IsUtf8) {
  EXPECT_EQ(path_segment(Id(42)), "42");
  EXPECT_THROW((void)path_segment("\xFF"), Error);
}

}  // namespace
}  // namespace billcore::detail
