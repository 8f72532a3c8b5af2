// Tests decoding content codings, however the bytes of the body are split.
#include "http/content_coding.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/compress.hpp"

namespace billcore::detail {
namespace {

using test::compressed;
using test::Format;

constexpr std::size_t any_size = std::numeric_limits<std::size_t>::max();
const std::string text = R"({"data":{"id":"ord_1","metadata":{"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}})";

std::string without_last(std::string bytes, std::size_t count) { return bytes.substr(0, bytes.size() - count); }

std::string with_last_changed(std::string bytes) {
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  return bytes;
}

Transfer decoded(const std::string& head, std::string_view body, std::size_t size) {
  Transfer out;
  out.head = head;
  ContentCoding coding(head);
  for (std::size_t at = 0; at < body.size(); at += size)
    EXPECT_TRUE(coding.take(body.substr(at, size), out.body, any_size));
  EXPECT_EQ(coding.taken(), body.size());
  coding.end(out);
  return out;
}

struct Row {
  const char* head;
  std::string body;
  std::string text;
  const char* problem = "";
  bool cut = false;
};

std::vector<Row> rows() {
  const auto gzip = compressed(text);
  const auto deflate = compressed(text, Format::deflate);
  const auto raw = compressed(text, Format::raw_deflate);
  const auto half = text.size() / 2;
  const auto members = compressed(text.substr(0, half)) + compressed("") + compressed(text.substr(half));
  return {
      {"Content-Encoding: gzip\r\n", gzip, text},
      {"content-encoding:X-GZIP\r\n", gzip, text},
      {"Content-Encoding: GZip , identity,\r\n", gzip, text},
      {"Content-Encoding: deflate\r\n", deflate, text},
      {"Content-Encoding: Deflate\r\n", raw, text},
      {"Content-Encoding: gzip\r\n", members, text},
      {"Content-Encoding: gzip\r\n", compressed(std::string(100'000, 'x')), std::string(100'000, 'x')},
      {"Content-Encoding: identity\r\n", text, text},
      {"Content-Encoding:\r\n", text, text},
      // Several codings are decoded in reverse order.
      {"Content-Encoding: gzip, gzip\r\n", compressed(gzip), text},
      {"Content-Encoding: deflate, gzip\r\n", compressed(deflate), text},
      {"Content-Encoding: gzip\r\nX: y\r\nContent-Encoding: deflate\r\n", compressed(gzip, Format::deflate), text},
      {"Transfer-Encoding: gzip, chunked\r\nContent-Encoding: deflate\r\n", compressed(deflate), text},
      // An empty body has no coding.
      {"Content-Encoding: gzip\r\n", "", ""},
      {"Content-Encoding: br\r\n", "", ""},
      {"Content-Encoding: gzip\r\n", compressed(""), ""},
      // Bytes after the end are ignored.
      {"Content-Encoding: gzip\r\n", gzip + std::string(600, '\0'), text},
      {"Content-Encoding: gzip\r\n", gzip + "garbage", text},
      {"Content-Encoding: deflate\r\n", deflate + "\x1f\x8bgarbage", text},
      {"Content-Encoding: gzip\r\n", with_last_changed(gzip), "", "is corrupt: gzip"},
      {"Content-Encoding: deflate\r\n", with_last_changed(deflate), "", "is corrupt: deflate"},
      {"Content-Encoding: gzip\r\n", text, "", "is corrupt: gzip"},
      {"Content-Encoding: gzip\r\n", raw, "", "is corrupt: gzip"},
      {"Content-Encoding: gzip\r\n", gzip + "\x1fx", "", "is corrupt: gzip"},
      {"Content-Encoding: gzip, deflate\r\n", compressed("no gzip", Format::deflate), "", "is corrupt: gzip, deflate"},
      {"Content-Encoding: br\r\n", "\x8b\x01\x80{}\x03", "", "is neither gzip nor deflate: br"},
      {"Content-Encoding: gzip, Zstd\r\n", gzip, "", "is neither gzip nor deflate: gzip, Zstd"},
      {"Content-Encoding: gzip,gzip,gzip,gzip,gzip\r\n", gzip, "",
       "consists of too many: gzip, gzip, gzip, gzip, gzip"},
      {"Content-Encoding: gzip\r\n", members + "\x1f", "", "breaks off: gzip", true},
      {"Content-Encoding: gzip, gzip\r\n", compressed(without_last(gzip, 4)), "", "breaks off: gzip, gzip", true},
  };
}

TEST(ContentCoding, IsTheSameInPiecesOfEverySize) {
  for (const Row& row : rows()) {
    for (std::size_t size = 1; size <= row.body.size() + 1; ++size) {
      const auto transfer = decoded(row.head, row.body, size);
      EXPECT_EQ(transfer.body, row.text) << row.head << size;
      const std::string problem = row.problem;
      EXPECT_EQ(transfer.reason,
                problem.empty() ? "" : "its body cannot be read, because its content coding " + problem);
      EXPECT_EQ(transfer.ending, row.cut ? Ending::cut : Ending::framed) << row.head << size;
    }
  }
}

TEST(ContentCoding, BreaksOffAtEachByteBeforeItsEnd) {
  for (const auto format : {Format::gzip, Format::deflate, Format::raw_deflate}) {
    const std::string head = format == Format::gzip ? "Content-Encoding: gzip\r\n" : "Content-Encoding: deflate\r\n";
    const auto body = compressed(text, format);
    for (std::size_t size = 1; size < body.size(); ++size) {
      const auto transfer = decoded(head, body.substr(0, size), size);
      EXPECT_EQ(transfer.ending, Ending::cut) << head << size;
      EXPECT_EQ(transfer.body, "") << head << size;
    }
  }
}

// A body of a few bytes may stand for many gigabytes. The decoder must stop at the limit, without memory for the rest.
TEST(ContentCoding, IsNoLongerThanAllowed) {
  constexpr std::size_t most = 1'000'000;
  const auto fits = compressed(std::string(most, '0'));
  const auto bomb = compressed(std::string(64 * most, '0'));
  const auto twice = compressed(bomb);
  struct Limit {
    const char* head;
    std::string body;
    bool fits;
  };
  for (const auto& row : {Limit{"Content-Encoding: gzip\r\n", fits, true},
                          {"Content-Encoding: gzip\r\n", bomb, false},
                          {"Content-Encoding: gzip, gzip\r\n", twice, false},
                          {"Content-Encoding: gzip\r\n", compressed(std::string(most + 1, '0')), false}}) {
    ContentCoding coding(row.head);
    std::string out;
    EXPECT_EQ(coding.take(row.body, out, most), row.fits);
    EXPECT_LE(out.size(), most);
    EXPECT_LE(out.capacity(), most + 1);
  }
}

// The text between two codings, and bytes that decode to nothing, must have an end as well.
TEST(ContentCoding, HasALimitForBytesWithoutText) {
  const auto nothing = compressed("");
  std::string members;
  while (members.size() < 200'000) members += nothing;
  for (const auto& [head, body] : {std::pair("Content-Encoding: gzip\r\n", members),
                                   {"Content-Encoding: gzip, gzip\r\n", compressed(members)},
                                   {"Content-Encoding: br\r\n", members}}) {
    ContentCoding coding(head);
    std::string out;
    EXPECT_FALSE(coding.take(body, out, 1000)) << head;
  }
}

}  // namespace
}  // namespace billcore::detail
