// Tests lists whose pages are fetched over real sockets: how reading continues after an error, and errors while a page
// is awaited. Bad pages are rows of tests/fixtures/bad_input.json.
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
using Texts = std::vector<std::string>;

std::int64_t page_of(const std::string& head) { return std::stoll(head.substr(head.find("page=") + 5)); }

// A page of three items, distinct from those of other pages.
std::string page(std::int64_t number, std::int64_t pages) {
  test::Made made{{}, number, pages, pages * 3};
  for (std::int64_t i = 0; i < 3; ++i) made.ids.push_back(std::to_string((number - 1) * 3 + i));
  return Server::json(test::page_text(made));
}

void read_on(Pager<Order>& pager, Texts& seen) {
  while (const auto order = pager.next()) seen.push_back(order->id().text());
}

Texts up_to(std::int64_t end) {
  Texts out;
  for (std::int64_t i = 0; i < end; ++i) out.push_back(std::to_string(i));
  return out;
}

TEST(PageFetcher, AnErrorEndsNeitherTheListNorItsPrefetching) {
  for (const int concurrency : {1, 8}) {
    std::atomic<bool> broken{true};
    const Server server([&](const std::string& head) {
      const auto number = page_of(head);
      return number == 57 && broken ? Server::json("null", 500) : page(number, 80);
    });
    auto options = server.options();
    options.concurrency = concurrency;
    const Client client(options);
    auto pager = client.subscriptions().orders("s");
    Texts seen;
    for (int again = 0; again < 3; ++again) {  // each attempt requests the same page again
      const auto error = error_of([&] { read_on(pager, seen); });
      EXPECT_EQ(error.code(), ErrorCode::server);
      EXPECT_EQ(error.message(), "GET /subscription/s/orders?page=57: 500 the service failed");
      EXPECT_EQ(error.detail().path, "/subscription/s/orders");
      EXPECT_EQ(seen, up_to(56 * 3));
      EXPECT_FALSE(pager.verdict());
    }
    broken = false;
    read_on(pager, seen);
    EXPECT_EQ(seen, up_to(80 * 3));
    EXPECT_TRUE(pager.verdict()->complete);
  }
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
