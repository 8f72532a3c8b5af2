// Tests which error results from each failure of a transfer. tests/conformance has a row for each status and body.
#include "call/answer.hpp"

#include <gtest/gtest.h>

#include <type_traits>

#include "support/errors.hpp"

namespace billcore::detail {
namespace {

using test::error_of;

static_assert(std::is_nothrow_copy_constructible_v<Error>);  // or a throw could end the program

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

Answer answer(int status, std::string body) {
  Transfer transfer;
  transfer.sent = true;
  transfer.status = status;
  transfer.body = std::move(body);
  return complete_answer(get, std::move(transfer));
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

TEST(Failures, OnlyOfASentWriteTheOutcomeIsUnknown) {
  for (const auto& row : failure_rows) {
    for (const auto& request : {get, post, del}) {
      const auto error = error_of([&] { (void)complete_answer(request, failed(row.failure, false)); });
      EXPECT_EQ(error.code(), row.code);
      EXPECT_FALSE(error.detail().outcome_unknown);
      EXPECT_FALSE(error.detail().attempted_at);
    }
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

TEST(Statuses, AWriteSaysWhenItLeft) {
  auto unavailable = answer(504, "");
  unavailable.sent_at.utc = sent_then;
  EXPECT_EQ(error_of([&] { require_success(post, unavailable); }).detail().attempted_at, sent_then);
  EXPECT_FALSE(error_of([&] { require_success(get, unavailable); }).detail().attempted_at);
  auto refused = answer(402, "");
  refused.sent_at.utc = sent_then;
  EXPECT_FALSE(error_of([&] { require_success(post, refused); }).detail().attempted_at);
}

TEST(Statuses, OfALargeBodyTheErrorKeepsItsBegin) {
  const auto large = error_of([&] { require_success(get, answer(500, std::string(100'000, 'x'))); });
  EXPECT_LE(large.detail().body.size(), 4096U);
  EXPECT_LT(large.message().size(), 500U);
}

}  // namespace
}  // namespace billcore::detail
