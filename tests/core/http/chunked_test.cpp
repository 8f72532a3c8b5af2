// Tests decoding the chunked transfer coding, however its bytes are split.
#include "http/chunked.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>

namespace billcore::detail {
namespace {

constexpr std::size_t any_size = std::numeric_limits<std::size_t>::max();

struct Taken {
  std::string body;
  bool ended = false;
  bool excess = false;
};

Taken take_in_pieces(std::string_view coded, std::size_t size) {
  ChunkedBody chunks;
  Taken out;
  for (std::size_t at = 0; at < coded.size(); at += size) {
    EXPECT_TRUE(chunks.take(coded.substr(at, size), out.body, any_size));
  }
  out.ended = chunks.ended();
  out.excess = chunks.has_excess();
  return out;
}

struct Row {
  std::string_view coded;
  std::string_view body;
  bool ended = true;
  bool excess = false;
};

TEST(ChunkedBody, IsTheSameInPiecesOfEverySize) {
  for (const Row& row : {
           Row{"0\r\n\r\n", ""},
           Row{"5\r\nhello\r\n0\r\n\r\n", "hello"},
           Row{"5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", "hello!"},
           Row{"A;name=value\r\n0123456789\r\n00\r\n\r\n", "0123456789"},
           Row{"a\r\n0\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n", "0\r\n\r\n0\r\n\r\n"},
           Row{"5\nhello\n0\n\n", "hello"},
           Row{"1\r\nx\r\n0\r\nX-Sum: 1\r\nHTTP/1.1 500: x\r\n\r\n", "x"},
           Row{"1\r\nx\r\n0\r\n\r\nH", "x", true, true},
           Row{"1\r\nx\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "x", true, true},
           Row{"", "", false},
           Row{"5\r\nhel", "hel", false},
           Row{"5\r\nhello\r\n", "hello", false},
           Row{"5\r\nhello\r\n0\r\n", "hello", false},
           Row{"5\r\nhello\r\n0\r\nX-Sum: 1\r\n", "hello", false},
       }) {
    for (std::size_t size = 1; size <= row.coded.size() + 1; ++size) {
      const auto taken = take_in_pieces(row.coded, size);
      EXPECT_EQ(taken.body, row.body) << row.coded << ' ' << size;
      EXPECT_EQ(taken.ended, row.ended) << row.coded << ' ' << size;
      EXPECT_EQ(taken.excess, row.excess) << row.coded << ' ' << size;
    }
  }
}

TEST(ChunkedBody, HasNoEndWhenItIsBroken) {
  for (const std::string_view coded : {"x\r\n", "\r\n", "5\r\nhelloX", "-1\r\n", "11111111111111111\r\n",
                                       "1\r\nx\r\nzz\r\n0\r\n\r\n", "5\r\nhelloworld\r\n0\r\n\r\n"}) {
    EXPECT_FALSE(take_in_pieces(coded, coded.size()).ended) << coded;
  }
}

TEST(ChunkedBody, IsNoLongerThanAllowed) {
  std::string body;
  ChunkedBody exact;
  EXPECT_TRUE(exact.take("5\r\nhello\r\n0\r\n\r\n", body, 5));
  EXPECT_EQ(body, "hello");
  body.clear();
  ChunkedBody over;
  EXPECT_FALSE(over.take("5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", body, 5));
  EXPECT_EQ(body, "hello");
  body.clear();
  ChunkedBody huge;
  EXPECT_TRUE(huge.take("ffffffffffffffff\r\nabc", body, 5));
  EXPECT_FALSE(huge.take("defg", body, 5));
}

}  // namespace
}  // namespace billcore::detail
