#include "http/url.hpp"

#include <gtest/gtest.h>

#include "billcore/error.hpp"

namespace billcore::detail {
namespace {

TEST(BaseUrl, TakesOffTheSlash) {
  EXPECT_EQ(checked_base_url("https://api.example/v1/acct/", false), "https://api.example/v1/acct");
  EXPECT_EQ(checked_base_url("https://api.example/v1/acct", false), "https://api.example/v1/acct");
}

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

// The hosts below are not IP addresses, so libcurl resolves them by DNS.
TEST(BaseUrl, ANameOfDigitsIsNotLoopback) {
  for (const char* url : {"http://127./a", "http://127%2E/a", "http://127.0.0.256/a", "http://127.0.0.1.1/a"}) {
    EXPECT_THROW((void)checked_base_url(url, false), Error) << url;
  }
  for (const char* name : {"127.", "127..1", "127.0.0.256", "127.0.0.1.1", "1270.0.1", "127.0.0"}) {
    EXPECT_FALSE(is_loopback(name)) << name;
  }
  for (const char* name : {"127.0.0.1", "127.255.255.254", "::1", "LocalHost"}) EXPECT_TRUE(is_loopback(name)) << name;
}

// libcurl accepts a single slash after the scheme: the host of http:/localhost://api.example/a is localhost.
TEST(BaseUrl, TheHostThatIsCheckedIsTheHostThatIsAsked) {
  for (const char* url :
       {"http:/localhost://api.example/a", "https:/a.example://b.example/a", "http:/127.0.0.1/x://[::2]/a"}) {
    EXPECT_THROW((void)checked_base_url(url, false), Error) << url;
    EXPECT_THROW((void)checked_base_url(url, true), Error) << url;
  }
}

TEST(BaseUrl, AnImpossibleUrlIsRefused) {
  for (const char* url :
       {"", "api.example/acct", "ftp://api.example/a", "https:///acct", "https://", "https://u:p@api.example/a",
        "https://u@api.example/a", "https://api.example/a?b=1", "https://api.example/a?", "https://api.example/a#f",
        "https://api.example/a b", "https://api.example/a\r\nX: y", "https://api.example:99999/a",
        "https://api.example/v1/../a", "https://api.example/%2E/a"}) {
    try {
      (void)checked_base_url(url, true);
      ADD_FAILURE() << url;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::config);
      EXPECT_TRUE(error.message().starts_with("base_url ")) << error.what();
    }
  }
}

// Without the account segment in the base URL, the service would answer every call with 404.
TEST(BaseUrl, EndsInTheAccount) {
  for (const char* url : {"https://api.example", "https://api.example/", "https://api.example//",
                          "http://127.0.0.1:80/", "https://[::1]", "https://api.example:8443"}) {
    try {
      (void)checked_base_url(url, false);
      ADD_FAILURE() << url;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::config);
      EXPECT_NE(error.message().find("account segment"), std::string::npos) << error.what();
      EXPECT_NE(error.message().find("https://HOST/ACCOUNT_ID"), std::string::npos) << error.what();
    }
  }
}

TEST(PathSegment, EncodesAndRefuses) {
  EXPECT_EQ(path_segment("sub_1-A.~"), "sub_1-A.~");
  EXPECT_EQ(path_segment("a/b?c%d#e f"), "a%2Fb%3Fc%25d%23e%20f");
  EXPECT_EQ(path_segment("😀"), "%F0%9F%98%80");
  EXPECT_EQ(path_segment("..."), "...");
  EXPECT_EQ(path_segment(Id(42)), "42");
  for (const std::string& bad : {std::string(), std::string("."), std::string(".."), std::string("a\r\nb"),
                                 std::string("a\0b", 3), std::string("\xFF")}) {
    EXPECT_THROW((void)path_segment(bad), Error);
  }
}

TEST(QueryString, Encodes) {
  EXPECT_EQ(query_string({{"page", "2"}, {"filter[state]", "paid,confirmed"}}),
            "page=2&filter%5Bstate%5D=paid%2Cconfirmed");
  EXPECT_EQ(query_string({}), "");
}

}  // namespace
}  // namespace billcore::detail
