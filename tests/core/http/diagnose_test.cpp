// Tests which failure diagnose() reports for a finished request, from libcurl's result and the other evidence.
#include "http/diagnose.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace billcore::detail {
namespace {

using Lines = std::vector<std::string_view>;

const Lines no_head;
const Lines open_head{"HTTP/1.1 200 OK\r\n"};
const Lines whole_head{"HTTP/1.1 200 OK\r\n", "Content-Length: 2\r\n", "\r\n"};
const Lines chunked_head{"HTTP/1.1 200 OK\r\n", "Transfer-Encoding: chunked\r\n", "\r\n"};
const Lines bare_head{"HTTP/1.1 200 OK\r\n", "\r\n"};
const Lines http2_head{"HTTP/2 200 \r\n", "\r\n"};
const Lines http2_length{"HTTP/2 200 \r\n", "content-length: 2\r\n", "\r\n"};
const Lines http2_empty{"HTTP/2 200 \r\n", "content-length: 0\r\n", "\r\n"};
const Lines two_lengths{"HTTP/1.1 200 OK\r\n", "Content-Length: 2\r\n", "Content-Length: 3\r\n", "\r\n"};
const Lines unreadable_status{"HTTP/x.1 402 No\r\n", "\r\n"};

struct Row {
  const char* what;
  Evidence evidence;
  const Lines& head;
  Failure failure;
  std::string_view reason = {};  // text that the reported reason must contain
};

Evidence ended(CURLcode code, std::string_view words = {}) {
  Evidence out;
  out.code = code;
  out.words = words;
  out.status = 200;
  out.sent = true;
  return out;
}

Evidence with(Evidence evidence, const std::initializer_list<bool Evidence::*>& flags) {
  for (const auto flag : flags) evidence.*flag = true;
  return evidence;
}

Evidence having_read(Evidence evidence, std::uint64_t ahead) {
  evidence.read_ahead = ahead;
  return evidence;
}

Evidence not_sent(Evidence evidence) {
  evidence.sent = false;
  return evidence;
}

Evidence cut(Evidence evidence) {
  evidence.body_ended = false;
  return evidence;
}

Evidence cut_stream(std::uint64_t body) {
  auto out = ended(CURLE_OK);
  out.body = body;
  out.stream_ended = false;
  return out;
}

Evidence in_tunnel(Evidence evidence, int status) {
  evidence.tunnel_status = status;
  return evidence;
}

Evidence refused(Evidence evidence, Failure how) {
  evidence.refusal = how;
  return evidence;
}

constexpr std::uint64_t much = std::uint64_t{200} << 10U;

const std::vector<Row> table{
    {"a whole answer", ended(CURLE_OK), whole_head, Failure::none},
    {"a whole answer in chunks", ended(CURLE_OK), chunked_head, Failure::none},
    {"the end within the headers", ended(CURLE_OK), open_head, Failure::truncated, "within the headers"},
    {"the end within a chunk", cut(ended(CURLE_OK)), chunked_head, Failure::truncated, "within a chunk"},
    {"a body of known length is not in chunks", cut(ended(CURLE_OK)), whole_head, Failure::none},
    {"two lengths", ended(CURLE_OK), two_lengths, Failure::truncated, "Content-Length"},
    {"a length that is not a number", ended(CURLE_WEIRD_SERVER_REPLY, "Invalid Content-Length: value"), open_head,
     Failure::truncated, "Content-Length"},
    {"nonsense", ended(CURLE_WEIRD_SERVER_REPLY, "Invalid status line"), no_head, Failure::protocol, "status line"},
    {"a status line that libcurl reads as 200", ended(CURLE_OK), unreadable_status, Failure::protocol, "status line"},
    {"a line without a colon", ended(CURLE_BAD_FUNCTION_ARGUMENT), open_head, Failure::protocol, "header line"},
    {"a bad argument before it was sent", not_sent(ended(CURLE_BAD_FUNCTION_ARGUMENT)), no_head, Failure::other},

    {"a body over the limit", with(ended(CURLE_WRITE_ERROR), {&Evidence::body_over_limit}), whole_head,
     Failure::too_large, "max_response"},
    {"headers over our limit", with(ended(CURLE_WRITE_ERROR), {&Evidence::headers_over_limit}), open_head,
     Failure::protocol, "262144 bytes"},
    {"a line over libcurl's limit", having_read(ended(CURLE_OUT_OF_MEMORY), much), open_head, Failure::protocol,
     "headers are over"},
    {"the same, as libcurl 8.6 reports it", ended(static_cast<CURLcode>(100)), open_head, Failure::protocol,
     "headers are over"},
    {"no memory for a short line", having_read(ended(CURLE_OUT_OF_MEMORY), 1000), open_head, Failure::memory},
    {"no memory after the headers", having_read(ended(CURLE_OUT_OF_MEMORY), much), whole_head, Failure::memory},
    {"no memory before it was sent", having_read(not_sent(ended(CURLE_OUT_OF_MEMORY)), much), no_head, Failure::memory},
    {"no memory in a callback", with(ended(CURLE_WRITE_ERROR), {&Evidence::out_of_memory}), open_head, Failure::memory,
     "memory"},
    {"HTTP/2 headers over libcurl's limit", having_read(ended(CURLE_HTTP2, "nghttp2: callback function failed"), much),
     no_head, Failure::protocol, "headers are over"},
    {"a frame of a stream that is not open", ended(CURLE_HTTP2, "nghttp2: callback function failed"), no_head,
     Failure::reset, "callback"},
    {"headers in many frames", ended(CURLE_HTTP2, "Too many CONTINUATION frames"), no_head, Failure::protocol,
     "headers are over"},

    {"ready to be sent after the deadline", with(not_sent(ended(CURLE_ABORTED_BY_CALLBACK)), {&Evidence::late}),
     no_head, Failure::timeout, "after the deadline"},
    {"an HTTP/2 answer", ended(CURLE_OK), http2_head, Failure::none},
    {"cut before its end", cut_stream(40), http2_head, Failure::truncated, "cut before its end"},
    {"cut after its length", cut_stream(2), http2_length, Failure::none},
    {"cut within its length", cut_stream(1), http2_length, Failure::truncated, "1 of 2 bytes"},
    {"longer than its length", cut_stream(3), http2_length, Failure::truncated, "3 of 2 bytes"},
    {"cut where nothing follows", cut_stream(0), http2_empty, Failure::none},
    {"closed with its connection", with(ended(CURLE_OK), {&Evidence::lost}), http2_head, Failure::truncated,
     "connection ended"},

    {"a certificate without a name", with(not_sent(ended(CURLE_ABORTED_BY_CALLBACK)), {&Evidence::unnamed}), no_head,
     Failure::tls, "subject alternative name"},
    {"dead before it was sent", with(not_sent(ended(CURLE_ABORTED_BY_CALLBACK)), {&Evidence::dead_before_send}),
     no_head, Failure::reset, "the other side had closed"},
    {"dead on reuse", with(ended(CURLE_ABORTED_BY_CALLBACK), {&Evidence::sent_again}), no_head, Failure::reset,
     "lost before an answer"},
    {"a reset", ended(CURLE_RECV_ERROR, "Recv failure: Connection reset by peer"), no_head, Failure::reset, "reset"},
    {"an empty answer", ended(CURLE_GOT_NOTHING), no_head, Failure::reset},
    {"too short", ended(CURLE_PARTIAL_FILE), whole_head, Failure::truncated},
    {"timed out", ended(CURLE_OPERATION_TIMEDOUT, "Operation timed out"), whole_head, Failure::timeout, "timed out"},
    {"a name without an address", not_sent(ended(CURLE_COULDNT_RESOLVE_HOST)), no_head, Failure::resolve},
    {"connection refused", not_sent(ended(CURLE_COULDNT_CONNECT)), no_head, Failure::connect},

    {"a socket that cannot be reset", with(not_sent(ended(CURLE_ABORTED_BY_CALLBACK)), {&Evidence::unheld}), no_head,
     Failure::other, "SO_LINGER"},
    {"refused", refused(not_sent(ended(CURLE_ABORTED_BY_CALLBACK)), Failure::refused), no_head, Failure::refused,
     "refused"},
    {"refused, and no new connection", refused(not_sent(ended(CURLE_COULDNT_CONNECT)), Failure::refused), no_head,
     Failure::refused, "refused"},
    {"refused, and no time is left", refused(not_sent(ended(CURLE_OPERATION_TIMEDOUT)), Failure::refused), no_head,
     Failure::timeout},
    {"HTTP/2 refused", refused(ended(CURLE_ABORTED_BY_CALLBACK), Failure::http1_required), no_head,
     Failure::http1_required, "HTTP_1_1_REQUIRED"},
    {"a whole answer, then a reset", with(ended(CURLE_SEND_ERROR), {&Evidence::whole}), whole_head, Failure::none},
    {"a whole answer, then a time-out", with(ended(CURLE_OPERATION_TIMEDOUT), {&Evidence::whole}), whole_head,
     Failure::timeout},

    {"a foreign certificate", not_sent(ended(CURLE_PEER_FAILED_VERIFICATION)), no_head, Failure::tls},
    {"a handshake that breaks off", not_sent(ended(CURLE_SSL_CONNECT_ERROR, "unexpected eof")), no_head,
     Failure::handshake},
    {"our certificate refused in the handshake",
     not_sent(ended(CURLE_SSL_CONNECT_ERROR, "sslv3 alert bad certificate")), no_head, Failure::certificate},
    {"our certificate refused in TLS 1.3", ended(CURLE_RECV_ERROR, "tlsv13 alert certificate required"), no_head,
     Failure::certificate},
    {"an alert about something else", ended(CURLE_RECV_ERROR, "tlsv1 alert internal error"), no_head, Failure::reset},
    {"our certificate cannot be used", not_sent(ended(CURLE_SSL_CERTPROBLEM)), no_head, Failure::certificate},

    {"a proxy refuses the tunnel", in_tunnel(not_sent(ended(CURLE_RECV_ERROR)), 407), no_head, Failure::proxy, "407"},
    {"a tunnel that was made", in_tunnel(ended(CURLE_RECV_ERROR, "reset"), 200), no_head, Failure::reset},
    {"an unknown kind of proxy",
     not_sent(ended(CURLE_COULDNT_CONNECT, "Unsupported proxy scheme for 'x://u:secret@h'")), no_head, Failure::proxy,
     "does not support such a proxy"},
};

TEST(Diagnose, SaysOfEachResultWhatItMeans) {
  for (const auto& row : table) {
    HeadReader head;
    for (const auto line : row.head) head.take(line);
    const auto found = diagnose(row.evidence, head);
    EXPECT_EQ(found.failure, row.failure) << row.what << ": " << found.reason;
    EXPECT_NE(found.reason.find(row.reason), std::string::npos) << row.what << ": " << found.reason;
    EXPECT_EQ(found.reason.empty(), found.failure == Failure::none) << row.what;
    EXPECT_EQ(found.reason.find("secret"), std::string::npos) << row.what;
    EXPECT_EQ(found.has_status, &row.head != &unreadable_status) << row.what;
    EXPECT_EQ(found.died_on_reuse, row.evidence.sent_again) << row.what;
  }
}

TEST(Diagnose, SaysHowTheEndOfTheBodyIsKnown) {
  const auto ending = [](const Lines& lines, bool reports_cuts) {
    HeadReader head;
    for (const auto line : lines) head.take(line);
    auto evidence = ended(CURLE_OK);
    evidence.body = head.length().value_or(0);
    evidence.reports_cuts = reports_cuts;
    return diagnose(evidence, head).ending;
  };
  EXPECT_EQ(ending(whole_head, false), Ending::framed);
  EXPECT_EQ(ending(chunked_head, false), Ending::framed);
  EXPECT_EQ(ending(bare_head, false), Ending::closed);
  EXPECT_EQ(ending(bare_head, true), Ending::closed);
  EXPECT_EQ(ending(http2_length, false), Ending::framed);
  EXPECT_EQ(ending(http2_head, false), Ending::unseen);
  EXPECT_EQ(ending(http2_head, true), Ending::framed);
}

// If an answer exceeds a limit of the client, diagnose() reports that, whatever libcurl's result is.
TEST(Diagnose, OwnLimitsComeFirst) {
  for (int code = 0; code <= 100; ++code) {
    auto evidence = ended(static_cast<CURLcode>(code));
    evidence.body_over_limit = true;
    evidence.sent_again = true;
    EXPECT_EQ(diagnose(evidence, {}).failure, Failure::too_large) << code;
    evidence.body_over_limit = false;
    evidence.headers_over_limit = true;
    EXPECT_EQ(diagnose(evidence, {}).failure, Failure::protocol) << code;
  }
}

// Only a complete answer is a success.
TEST(Diagnose, NoOtherCodeIsASuccess) {
  HeadReader head;
  for (const auto line : whole_head) head.take(line);
  for (int code = 1; code <= 100; ++code) {
    auto evidence = ended(static_cast<CURLcode>(code));
    EXPECT_NE(diagnose(evidence, head).failure, Failure::none) << code;
  }
}

}  // namespace
}  // namespace billcore::detail
