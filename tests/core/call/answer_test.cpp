// Tests which error results from each outcome of a request.
#include "call/answer.hpp"

#include <gtest/gtest.h>

#include "support/errors.hpp"

namespace billcore::detail {
namespace {

const Instant sent_then{std::chrono::seconds(1'700'000'000)};
const auto settings = std::make_shared<const AnswerSettings>("s3cret-key", "x-request-id");
const RequestInfo get{"GET", "/order/o", *settings};
const RequestInfo post{"POST", "/subscription/s/order", *settings};
const RequestInfo del{"DELETE", "/product/1", *settings};

Transfer failed(Failure failure, bool sent) {
  Transfer transfer;
  transfer.failure = failure;
  transfer.reason = "wire words";
  transfer.sent = sent;
  if (sent) transfer.sent_at.utc = sent_then;
  return transfer;
}

Answer answer(int status, std::string body, std::vector<std::pair<std::string, std::string>> headers = {}) {
  Transfer transfer;
  transfer.sent = true;
  transfer.status = status;
  for (const auto& [name, value] : headers) transfer.head += name + ": " + value + "\r\n";
  transfer.body = std::move(body);
  return complete_answer(get, std::move(transfer));
}

template <typename Action>
Error error_of(Action&& action) {
  auto error = test::error_of(std::forward<Action>(action));
  EXPECT_EQ(error.message().find('\n'), std::string::npos);
  EXPECT_EQ(error.message().find("s3cret-key"), std::string::npos);
  return error;
}

struct FailureRow {
  Failure failure;
  ErrorCode code;
};
constexpr std::array<FailureRow, 10> failure_rows{{{Failure::resolve, ErrorCode::connection},
                                                   {Failure::connect, ErrorCode::connection},
                                                   {Failure::tls, ErrorCode::tls},
                                                   {Failure::certificate, ErrorCode::tls},
                                                   {Failure::timeout, ErrorCode::timeout},
                                                   {Failure::reset, ErrorCode::connection},
                                                   {Failure::truncated, ErrorCode::connection},
                                                   {Failure::too_large, ErrorCode::decode},
                                                   {Failure::protocol, ErrorCode::connection},
                                                   {Failure::other, ErrorCode::transport}}};

TEST(Failures, NothingSentIsThePlainTransportError) {
  for (const auto& row : failure_rows) {
    for (const auto& request : {get, post, del}) {
      const auto error = error_of([&] { (void)complete_answer(request, failed(row.failure, false)); });
      EXPECT_EQ(error.code(), row.code);
      EXPECT_FALSE(error.detail().outcome_unknown);
      EXPECT_FALSE(error.detail().attempted_at);
    }
  }
}

TEST(Failures, SentWriteIsOutcomeUnknown) {
  for (const auto& row : failure_rows) {
    for (const auto& request : {post, del}) {
      const auto error = error_of([&] { (void)complete_answer(request, failed(row.failure, true)); });
      EXPECT_EQ(error.code(), ErrorCode::outcome_unknown);
      EXPECT_TRUE(error.detail().outcome_unknown);
      EXPECT_EQ(error.detail().cause, row.code);
      EXPECT_NE(error.detail().cause_message, "");
      EXPECT_EQ(error.detail().attempted_at, sent_then);
      EXPECT_EQ(error.detail().method, request.method);
      EXPECT_EQ(error.detail().path, request.path);
    }
    EXPECT_EQ(error_of([&] { (void)complete_answer(get, failed(row.failure, true)); }).code(), row.code);
  }
}

TEST(Failures, ALackOfMemoryIsBadAllocUnlessAWriteWasSent) {
  for (const auto& request : {get, post, del}) {
    EXPECT_THROW((void)complete_answer(request, failed(Failure::memory, false)), std::bad_alloc);
  }
  EXPECT_THROW((void)complete_answer(get, failed(Failure::memory, true)), std::bad_alloc);
  for (const auto& request : {post, del}) {
    const auto error = error_of([&] { (void)complete_answer(request, failed(Failure::memory, true)); });
    EXPECT_EQ(error.code(), ErrorCode::outcome_unknown);
    EXPECT_EQ(error.detail().cause, ErrorCode::out_of_memory);
  }
}

TEST(Statuses, TypedAndWhetherTheOutcomeIsKnown) {
  struct Row {
    int status;
    ErrorCode code;
    bool unknown_for_write;
  };
  for (const auto& row :
       {Row{301, ErrorCode::api, true}, Row{304, ErrorCode::api, true}, Row{400, ErrorCode::bad_request, false},
        Row{401, ErrorCode::authentication, false}, Row{402, ErrorCode::payment, false},
        Row{403, ErrorCode::permission_denied, false}, Row{404, ErrorCode::not_found, false},
        Row{408, ErrorCode::api, true}, Row{409, ErrorCode::conflict, false}, Row{418, ErrorCode::api, false},
        Row{422, ErrorCode::validation, false}, Row{429, ErrorCode::rate_limit, false},
        Row{500, ErrorCode::server, true}, Row{504, ErrorCode::server, true}, Row{599, ErrorCode::server, true}}) {
    const auto of_get = error_of([&] { require_success(get, answer(row.status, "")); });
    EXPECT_EQ(of_get.code(), row.code) << row.status;
    EXPECT_FALSE(of_get.detail().outcome_unknown);
    const auto of_post = error_of([&] { require_success(post, answer(row.status, "")); });
    EXPECT_EQ(of_post.code(), row.code) << row.status;
    EXPECT_EQ(of_post.detail().outcome_unknown, row.unknown_for_write) << row.status;
    EXPECT_EQ(of_post.detail().http_status, row.status);
  }
  require_success(post, answer(200, ""));
  require_success(post, answer(204, ""));
}

TEST(Statuses, AWriteSaysWhenItLeft) {
  auto unavailable = answer(504, "");
  unavailable.sent_at.utc = sent_then;
  EXPECT_EQ(error_of([&] { require_success(post, unavailable); }).detail().attempted_at, sent_then);
  EXPECT_FALSE(error_of([&] { require_success(get, unavailable); }).detail().attempted_at);
  auto refused = answer(402, "");
  refused.sent_at.utc = sent_then;
  EXPECT_FALSE(error_of([&] { require_success(post, refused); }).detail().attempted_at);
}

TEST(Statuses, RetryAfterIsAFiniteNumberOfSeconds) {
  for (const char* value : {"inf", "-1", "5abc", "nan", ""}) {
    const auto error = error_of([&] { require_success(get, answer(429, "", {{"retry-after", value}})); });
    EXPECT_FALSE(error.detail().retry_after) << value;
  }
}

TEST(ErrorBodies, AnErrorObjectGivesCodeAndMessage) {
  const auto error = error_of([&] {
    require_success(post, answer(402, R"({"error":{"code":"card_declined","message":"No funds for s3cret-key"}})",
                                 {{"x-request-id", "req-1"}, {"retry-after", "1.5"}}));
  });
  EXPECT_EQ(error.detail().api_code, "card_declined");
  EXPECT_EQ(error.detail().api_message, "No funds for [redacted]");
  EXPECT_EQ(error.detail().request_id, "req-1");
  EXPECT_EQ(error.detail().retry_after, 1.5);
  EXPECT_EQ(error.detail().body.find("s3cret"), std::string::npos);
  EXPECT_NE(error.message().find("card_declined"), std::string::npos);
}

TEST(ErrorBodies, OtherBodiesAreKeptAsText) {
  for (const std::string body :
       {"", "null", "<html>Bad\ngateway</html>", R"({"error":{"co)", R"({"error":"text"})", "[]"}) {
    const auto error = error_of([&] { require_success(get, answer(401, body)); });
    EXPECT_EQ(error.code(), ErrorCode::authentication) << body;
    EXPECT_EQ(error.detail().body, body);
    EXPECT_EQ(error.detail().api_code, "");
  }
  EXPECT_EQ(error_of([&] { require_success(get, answer(500, "a\xFF\xFEz")); }).detail().body, "a\uFFFD\uFFFDz");
  const auto large = error_of([&] { require_success(get, answer(500, std::string(100'000, 'x'))); });
  EXPECT_LE(large.detail().body.size(), 4096U);
  EXPECT_LT(large.message().size(), 500U);
}

TEST(Envelope, OnlyItsShapeIsPromised) {
  EXPECT_TRUE(read_resource(get, answer(200, R"({"data":{}})")).is_object());
  EXPECT_NE(read_list(get, answer(200, R"({"data":[1],"pagination":{}})")), nullptr);
  for (const std::string body : {"", "{}", R"({"data":[]})", R"({"data":null})", "[]", "<html>", R"({"data":{}}x)"}) {
    const auto error = error_of([&] { (void)read_resource(post, answer(200, body)); });
    EXPECT_EQ(error.code(), ErrorCode::decode) << body;
    EXPECT_EQ(error.detail().http_status, 200);
    EXPECT_FALSE(error.detail().outcome_unknown);
  }
  for (const std::string body :
       {"{}", R"({"data":[]})", R"({"data":{},"pagination":{}})", R"({"data":[],"pagination":null})"}) {
    EXPECT_EQ(error_of([&] { (void)read_list(get, answer(200, body)); }).code(), ErrorCode::decode) << body;
  }
}

}  // namespace
}  // namespace billcore::detail
