#include "call/redact.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/encoding.hpp"

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

TEST(Scrub, UrlsInAnyLetterCaseAndSpelling) {
  for (const char* url : {"HTTPS://x/S?sig=1",
                          "hTTp://x/S?sig=1",
                          R"(\u0068ttps://x/S?sig=1)",
                          R"(\u0048\u0054TPS:\/\/x\/S?sig=1)",
                          R"(https\u003a\u002F\u002fx/S?sig=1)",
                          R"(\\u0068ttps:\\/\\/x)",
                          "&#104;ttps&#58;&#47;&#47;x/S?sig=1",
                          "&#x48;TTPS://x",
                          "%68%74tps%3a%2f%2Fx%3Fsig=1",
                          "%2568ttps://x",
                          R"(\u0025\u0036\u0038ttps://x)",
                          "&#37;68ttps://x",
                          R"(%5Cu0068ttps://x)",
                          R"(\x68ttps://x)",
                          "https://x/?a=%20%22%3C%3E&sig=1",
                          R"(\u0068ttps://x/?a=%20%22%3E&sig=1)",
                          "https://x/?a=&quot;&#32;&sig=1",
                          R"(https://x/?a=\u0022\u003c\n&sig=1)",
                          "https://x/?a=it's&sig=1",
                          R"(https://x/?a=\'&sig=1)"}) {
    EXPECT_EQ(scrub(std::string("at ").append(url).append(" end"), "k3y"), "at [redacted] end") << url;
    EXPECT_EQ(scrub(std::string("{\"u\":\"").append(url).append("\", \"v\":1}"), "k3y"), R"({"u":"[redacted]", "v":1})")
        << url;
  }
  // The quotes around a redacted URL are kept, however the quotes are escaped.
  EXPECT_EQ(scrub(R"(\u0022https://x\u0022,\u0022a\u0022)", "k3y"), R"(\u0022[redacted]\u0022,\u0022a\u0022)");
  EXPECT_EQ(scrub("&quot;HTTP://x&quot;, 'http://y', <a>http://z</a>", "k3y"),
            "&quot;[redacted]&quot;, '[redacted]', <a>[redacted]</a>");
}

TEST(Scrub, MembersInAnySpelling) {
  EXPECT_EQ(scrub(R"({"cancel\u005furl":"a b","\u0069nvoices_url" : "c\"\\x", "d":"e"})", "k3y"),
            R"({"cancel\u005furl":"[redacted]","\u0069nvoices_url" : "[redacted]", "d":"e"})");
  EXPECT_EQ(scrub(R"({"cancel_url":"c\\", "d":"e"})", "k3y"), R"({"cancel_url":"[redacted]", "d":"e"})");
  EXPECT_EQ(scrub("{'cancel_url': 'a b', 'c': 'd'}", "k3y"), "{'cancel_url': '[redacted]', 'c': 'd'}");
  EXPECT_EQ(scrub("{&quot;cancel_url&quot;:&quot;a b&quot;, &quot;c&quot;:&quot;d&quot;}", "k3y"),
            "{&quot;cancel_url&quot;:&quot;[redacted]&quot;, &quot;c&quot;:&quot;d&quot;}");
  EXPECT_EQ(scrub("%22cancel_url%22%3A%22a b%22 %22c%22", "k3y"), "%22cancel_url%22%3A%22[redacted]%22 %22c%22");
  EXPECT_EQ(scrub(R"("{\"cancel_url\":\"a\\\"b\",\"c\":1}")", "k3y"), R"("{\"cancel_url\":\"[redacted]\",\"c\":1}")");
}

TEST(Scrub, KeyInAnyLetterCase) {
  EXPECT_EQ(scrub("LIVE_9FA2 live_9fa2 %4CIVE%5f9fA2 &#76;ive_9fA2 a", "Live_9fA2"),
            "[redacted] [redacted] [redacted] [redacted] a");
}

// The whole key is redacted, even if the text before it looks like the beginning of an escape, such as "%".
TEST(Scrub, KeyBehindTheMarkOfAnEscape) {
  for (const char* mark : {"%", "\\", "\\u", "\\u00", "\\x", "&#", "&#x", "%2"}) {
    EXPECT_EQ(scrub(std::string(mark).append("4afe12ab9fA2 end"), "4afe12ab9fA2"),
              std::string(mark).append("[redacted] end"));
  }
}

std::string in_hex(std::string_view text, std::string_view digits = hex_digits) {
  std::string out;
  encode_hex_text(text, digits, out);
  return out;
}

std::string in_base64(std::string_view text, std::string_view digits = base64_digits, bool padded = true) {
  std::string out;
  encode_base64(text, digits, out);
  while (padded && out.size() % 4 != 0) out += '=';
  return out;
}

TEST(Scrub, KeyInHex) {
  const std::string key = "live_9fA2>?~x";
  EXPECT_EQ(scrub("a " + in_hex(key) + " b " + in_hex(key, upper_hex_digits) + "!", key), "a [redacted] b [redacted]!");
  EXPECT_EQ(scrub("0x" + in_hex("x" + key + "yz"), key), "0x78[redacted]797a");
  EXPECT_EQ(scrub(std::string("f").append(in_hex("LIVE_9FA2>?~X")).append("f"), key), "f[redacted]f");
  EXPECT_EQ(scrub(in_hex("live_9fA2"), key), in_hex("live_9fA2"));
}

TEST(Scrub, KeyInBase64) {
  // With these lengths of the key, its end takes every possible position within a base64 group of four digits.
  const std::string whole = "live_9fA2>?~\xFFx0";
  for (const auto size : {8U, 9U, 10U, 11U, 12U}) {
    const auto key = whole.substr(0, size);
    for (const auto digits : {base64_digits, base64url_digits}) {
      for (const bool padded : {true, false}) {
        EXPECT_EQ(scrub("Basic " + in_base64(key, digits, padded) + ";", key), "Basic [redacted];") << size;
        for (const char* before : {"u:", "me:", "user:", ">>>"}) {
          for (const char* behind : {"", ":", ":x", ":x>?>", "\n"}) {
            const auto text = in_base64(before + key + behind, digits, padded);
            const auto out = scrub('"' + text + '"', key);
            EXPECT_NE(out.find("[redacted]"), std::string::npos) << text;
            // Only the digits that encode a part of the key are redacted.
            const auto first = std::string_view(before).size() * 8 / 6;
            const auto last = ((std::string_view(before).size() + size) * 8 + 5) / 6;
            auto rest = text.substr(std::min(last, text.size()));
            if (rest.find_first_not_of('=') == std::string::npos) rest.clear();
            EXPECT_EQ(out, '"' + text.substr(0, first) + "[redacted]" + rest + '"');
          }
        }
      }
    }
    EXPECT_EQ(scrub("xyz" + in_base64(key), key), "xyz[redacted]");
  }
  auto lines = in_base64("a long text in front of it: " + whole + ", and more of it behind");
  lines.insert(48, "\\r\\n").insert(20, "\n");
  EXPECT_NE(scrub(lines, whole).find("[redacted]"), std::string::npos);
  EXPECT_EQ(scrub(R"("dX\u004e)" + in_base64("ser:" + whole).substr(2), "ser:" + whole).find(in_base64(whole)),
            std::string::npos);
  EXPECT_EQ(scrub(in_base64("live_9fA3>?~"), "live_9fA2>?~"), in_base64("live_9fA3>?~"));
}

TEST(Scrub, WhatIsCutShowsNoPartOfASecret) {
  const std::string key = "live_9fA2xQ7mZ0pL4vTb8Kc";
  std::string url = "https://x/";
  url.append(150'000, 'a');
  for (const std::size_t in_front : {0U, 30U, 60'000U, 65'510U, 65'530U, 73'700U}) {
    const auto text = url.substr(0, in_front) + ' ' + key + ' ' + url + ' ' + key;
    for (const std::size_t limit : {40U, 4100U}) {
      const auto out = scrub(text, key, limit);
      EXPECT_LE(out.size(), limit);
      EXPECT_EQ(out.find("live_"), std::string::npos) << in_front;
    }
    EXPECT_EQ(scrub(text, key).find("live_"), std::string::npos);
  }
}

// Redacting a text for an error takes little time, even if a malicious server sends a text that wastes CPU time.
TEST(Scrub, HostileTextsCostLittle) {
  const std::string key = "live_9fA2xQ7mZ0pL4vTb8Kc";
  for (const std::string& part :
       {std::string("http"), std::string("https://"), std::string("\"cancel_url\""), std::string("\"cancel_url\":\""),
        std::string("\\\"cancel_url\\\":\\\""), key.substr(0, 23), in_base64(key).substr(0, 30), std::string("\\"),
        std::string("%25"), std::string("&amp;"), std::string("&#0000"), std::string("\\u005c"), std::string("\n")}) {
    std::string body;
    while (body.size() < 2'000'000) body += part;
    const auto out = scrub(body, key, 4100);  // redacts only the part that is shown; the whole text would take minutes
    EXPECT_LE(out.size(), 4100U);
  }
  // A quadratic algorithm would take minutes for these.
  for (const char* part : {"\\", "%25", "&amp;", "a%25", "a\\"}) {
    std::string body;
    while (body.size() < 300'000) body += part;
    EXPECT_EQ(scrub(body, "a/b"), body);
  }
  std::string hits;
  for (int i = 0; i < 20'000; ++i) hits += R"("cancel_url":"x",k3y)";
  EXPECT_EQ(scrub(hits, "k3y").size(), std::size_t{20'000} * 36);
}

TEST(OneLine, CutsAtACharacter) {
  EXPECT_EQ(one_line("a\r\nb\tc", 10), "a  b c");
  EXPECT_EQ(one_line("a\x7F-\x1F-~", 10), "a - -~");  // DEL (0x7F) is also replaced
  EXPECT_EQ(one_line("aå", 2), "a...");
  EXPECT_EQ(one_line("aå", 3), "aå");
}

}  // namespace
}  // namespace billcore::detail
