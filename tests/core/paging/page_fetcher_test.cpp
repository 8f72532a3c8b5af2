// Tests errors while a page is awaited. tests/conformance/test_lists.py tests errors of the service, and the torture how
// reading continues.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "billcore/client.hpp"
#include "billcore/error.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"
#include "support/server.hpp"

namespace billcore {
namespace {

using test::error_of;
using test::Server;

std::int64_t page_of(const std::string& head) { return std::stoll(head.substr(head.find("page=") + 5)); }

// A page of three items, distinct from those of other pages.
std::string page(std::int64_t number, std::int64_t pages) {
  test::Made made{{}, number, pages, pages * 3};
  for (std::int64_t i = 0; i < 3; ++i) made.ids.push_back(std::to_string((number - 1) * 3 + i));
  return Server::json(test::page_text(made));
}

TEST(PageFetcher, ATimeOutNamesTheMissingPage) {
  // The server answers only the request for page 1. The errors of a time-out and of an interrupt name the missing page,
  // and do not show the reference id, which may be secret.
  std::atomic<bool> done{false};
  const Server server(
      [&](const std::string& head) { return page_of(head) > 1 && !done ? "+" : page(page_of(head), 5); });
  std::atomic<bool> stop{false};
  auto options = server.options();
  options.concurrency = 3;
  options.interrupt = [&] { return stop.load(); };
  const Client client(options);
  auto pager = client.subscriptions().list({"ref-4711"}, {.timeout = std::chrono::milliseconds(300)});
  const auto next = [&] {
    while (pager.next()) {
    }
  };
  auto error = error_of(next);
  // On a busy machine page 1 may be late too, and so may the other pages, once they are answered.
  for (int i = 0; i < 100 && error.message().starts_with("GET /subscriptions?page=1: no complete answer"); ++i) {
    error = error_of(next);
  }
  EXPECT_EQ(error.code(), ErrorCode::timeout);
  EXPECT_TRUE(error.message().starts_with("GET /subscriptions?page=2: no complete answer within")) << error.message();
  EXPECT_EQ(error.detail().path, "/subscriptions");
  stop = true;
  error = error_of([&] { (void)pager.next(); });
  EXPECT_EQ(error.code(), ErrorCode::interrupted);
  EXPECT_EQ(error.message(), "GET /subscriptions?page=2: interrupted");
  EXPECT_EQ(error.detail().path, "/subscriptions");
  stop = false;
  done = true;
  decltype(pager.collect()) rest;
  for (int i = 0; i < 100 && rest.empty(); ++i) {
    try {
      rest = pager.collect();
    } catch (const Error& late) {
      EXPECT_EQ(late.code(), ErrorCode::timeout) << late.message();
    }
  }
  ASSERT_EQ(rest.size(), 12U);
  EXPECT_EQ(rest.front().id().text(), "3");
}

}  // namespace
}  // namespace billcore
