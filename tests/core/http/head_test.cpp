// Tests parsing the head of an answer: the end of the head, and the length of the body by the headers.
#include "http/head.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

namespace billcore::detail {
namespace {

HeadReader read(std::initializer_list<std::string_view> lines) {
  HeadReader head;
  for (const auto line : lines) head.take(line);
  return head;
}

TEST(HeadReader, EndsWithTheEmptyLine) {
  EXPECT_FALSE(read({"HTTP/1.1 200 OK\r\n", "A: 1\r\n"}).ended());
  auto head = read({"HTTP/1.1 200 OK\r\n", "A: 1\r\n", "\r\n"});
  EXPECT_TRUE(head.ended());
  EXPECT_EQ(head.text(), "A: 1\r\n");
}

TEST(HeadReader, ForgetsInterimAnswers) {
  auto head = read({"HTTP/1.1 103 Early Hints\r\n", "Content-Length: 3\r\n", "\r\n"});
  EXPECT_FALSE(head.ended());
  head.take("HTTP/1.1 200 OK\r\n");
  head.take("A: 1\r\n");
  head.take("\r\n");
  EXPECT_TRUE(head.ended());
  EXPECT_FALSE(head.length());
  EXPECT_EQ(head.text(), "A: 1\r\n");
}

TEST(HeadReader, IgnoresTrailers) {
  for (const std::string_view trailer :
       {"HTTP/1.1 500: x\r\n", "X-Request-Id: 2\r\n", "Content-Length: 9\r\n", "\r\n"}) {
    auto head = read({"HTTP/1.1 200 OK\r\n", "X-Request-Id: 1\r\n", "\r\n", trailer});
    EXPECT_TRUE(head.ended());
    EXPECT_EQ(head.text(), "X-Request-Id: 1\r\n");
    EXPECT_FALSE(head.length());
  }
}

TEST(HeadReader, TakesAStatusLineForOneAtTheBeginningOnly) {
  auto head = read({"HTTP/1.1 200 OK\r\n", "HTTP/1.1 500: x\r\n", "Content-Length: 4\r\n", "\r\n"});
  EXPECT_TRUE(head.ended());
  EXPECT_EQ(head.length(), 4U);
}

TEST(HeadReader, ReadsTheStatus) {
  for (const auto& [line, status] :
       std::initializer_list<std::pair<std::string_view, int>>{{"HTTP/1.1 200 OK\r\n", 200},
                                                               {"HTTP/1.0 404\r\n", 404},
                                                               {"HTTP/2 204\r\n", 204},
                                                               {"HTTP/3 599 \r\n", 599},
                                                               {"HTTP/1.1  402 X\n", 402},
                                                               {"http/1.1 402 X\r\n", 0},
                                                               {"HTTP/x.1 402 X\r\n", 0},
                                                               {"HTTP/1.1 /02 X\r\n", 0},
                                                               {"HTTP/1.1 40 X\r\n", 0},
                                                               {"HTTP/1.1 099 X\r\n", 0},
                                                               {"HTTP/1.1402 X\r\n", 0},
                                                               {"HTTP/1.1 200abc\r\n", 0},
                                                               {"HTTP/1.1 2000 X\r\n", 0},
                                                               {"HTTP/402 X\r\n", 0},
                                                               {"HTTP/\r\n", 0},
                                                               {"HTTP\r\n", 0},
                                                               {" HTTP/1.1 402 X\r\n", 0}}) {
    EXPECT_EQ(read({line, "\r\n"}).status(), status) << line;
    EXPECT_EQ(read({"HTTP/1.1 100 Continue\r\n", "\r\n", line, "\r\n"}).status(), status) << line;
    EXPECT_EQ(read({line, "HTTP/1.1 200 OK\r\n", "\r\n"}).status(), status) << line;
  }
}

TEST(HeadReader, ReadsTheLength) {
  struct Row {
    std::string_view value;
    std::optional<std::uint64_t> length;
    bool contradictory = false;
  };
  for (const Row& row : {Row{"31", 31U}, Row{" 31 ", 31U}, Row{"31, 31", 31U}, Row{"31,31 ,31", 31U},
                         Row{"031, 31", 31U}, Row{"31, 3", 3U, true}, Row{"31, many", std::nullopt, true},
                         Row{"-1", std::nullopt, true}, Row{"31,", std::nullopt, true}, Row{"", std::nullopt, true},
                         Row{"+31", std::nullopt, true}, Row{"99999999999999999999", std::nullopt, true}}) {
    const auto line = "content-LENGTH:" + std::string(row.value) + "\r\n";
    const auto head = read({"HTTP/1.1 200 OK\r\n", line, "\r\n"});
    EXPECT_EQ(head.is_contradictory(), row.contradictory) << row.value;
    if (row.length && !row.contradictory) {
      EXPECT_EQ(head.length(), row.length) << row.value;
    }
  }
  EXPECT_FALSE(
      read({"HTTP/1.1 200 OK\r\n", "Content-Length: 3\r\n", "Content-Length: 3\r\n", "\r\n"}).is_contradictory());
  EXPECT_TRUE(
      read({"HTTP/1.1 200 OK\r\n", "Content-Length: 31\r\n", "Content-Length: 3\r\n", "\r\n"}).is_contradictory());
  EXPECT_TRUE(read({"HTTP/1.1 200 OK\r\n", "Content-Length\r: 8 1\r\n", "\r\n"}).is_contradictory());
}

TEST(HeadReader, KnowsTheChunkedCoding) {
  EXPECT_TRUE(read({"HTTP/1.1 200 OK\r\n", "Transfer-Encoding: Chunked\r\n", "\r\n"}).is_chunked());
  EXPECT_TRUE(read({"HTTP/1.1 200 OK\r\n", "transfer-encoding: gzip , chunked\r\n", "\r\n"}).is_chunked());
  EXPECT_FALSE(read({"HTTP/1.1 200 OK\r\n", "Transfer-Encoding: gzip\r\n", "\r\n"}).is_chunked());
  EXPECT_FALSE(read({"HTTP/2 200\r\n", "transfer-encoding: chunked\r\n", "\r\n"}).is_chunked());
  // Transfer-Encoding overrides Content-Length.
  const auto both = read({"HTTP/1.1 200 OK\r\n", "Transfer-Encoding: chunked\r\n", "Content-Length: 0\r\n", "\r\n"});
  EXPECT_FALSE(both.length());
  EXPECT_FALSE(both.is_bodyless());
}

TEST(HeadReader, KnowsAnswersWithoutABody) {
  EXPECT_TRUE(read({"HTTP/1.1 204 No Content\r\n", "\r\n"}).is_bodyless());
  EXPECT_TRUE(read({"HTTP/1.1 304 Not Modified\r\n", "Content-Length: 5\r\n", "\r\n"}).is_bodyless());
  EXPECT_TRUE(read({"HTTP/1.1 200 OK\r\n", "Content-Length: 0\r\n", "\r\n"}).is_bodyless());
  EXPECT_FALSE(read({"HTTP/1.1 200 OK\r\n", "\r\n"}).is_bodyless());
  EXPECT_TRUE(read({"HTTP/2 204\r\n", "\r\n"}).frames_the_body());
  EXPECT_FALSE(read({"HTTP/2 200\r\n", "\r\n"}).frames_the_body());
}

}  // namespace
}  // namespace billcore::detail
