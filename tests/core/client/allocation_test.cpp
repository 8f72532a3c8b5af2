// Lets each allocation of a call fail in turn. This is a separate program, because it replaces operator new.
// In this program only allocations of billcore fail; in tests/torture those of libcurl and OpenSSL fail as well.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "billcore/client.hpp"
#include "billcore/detail/document.hpp"
#include "paging/pager_core.hpp"
#include "support/json_text.hpp"
#include "support/server.hpp"

namespace {

thread_local long until_failure = -1;  // how many of this thread's allocations succeed before one fails; -1: all
thread_local bool failed = false;

void* allocate(std::size_t size) {
  if (until_failure == 0) {
    until_failure = -1;
    failed = true;
    return nullptr;
  }
  if (until_failure > 0) --until_failure;
  return std::malloc(size == 0 ? 1 : size);
}

}  // namespace

void* operator new(std::size_t size) {
  if (void* made = allocate(size)) return made;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void operator delete(void* pointer) noexcept { std::free(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { std::free(pointer); }

namespace {

using namespace billcore;

// Repeats `step` until no allocation fails; each time one more allocation succeeds before one fails. The argument of
// `step` is a function that runs a call and lets one allocation of the call fail.
template <typename Step>
void each_allocation_fails(Step step) {
  long failures = 0;
  for (long allowed = 0;; ++allowed) {
    failed = false;
    step([allowed](auto call) {
      until_failure = failed ? -1 : allowed;
      try {
        call();
      } catch (...) {
        until_failure = -1;
        throw;
      }
      until_failure = -1;
    });
    if (!failed) break;
    ++failures;
  }
  EXPECT_GT(failures, 0);
}

// Hooks that count attempts without allocating.
struct CountingHooks final : Hooks {
  void on_request(const Attempt& /*attempt*/) override { ++begun; }
  void on_response(const Attempt& attempt) override {
    ++ended;
    given_up += attempt.path.empty() ? 0 : 1;
    unknown += attempt.outcome_unknown ? 1 : 0;
  }
  int begun = 0;
  int ended = 0;
  int given_up = 0;
  int unknown = 0;
};

TEST(Allocation, AWriteThatWasSentIsNeverOutOfMemory) {
  std::atomic<int> received{0};
  test::Server server([&received](const std::string&) {
    ++received;
    return test::Server::json(R"({"data":{"id":"s"}})");
  });
  auto options = server.options();
  int unknown = 0;
  const auto hooks = std::make_shared<CountingHooks>();
  options.hooks = hooks;
  each_allocation_fails([&](auto starved) {
    const Client client(options);
    const int before = received;
    const int given_up = hooks->given_up;
    try {
      starved([&client] { client.subscriptions().cancel("s"); });
      EXPECT_EQ(received, before + 1);
    } catch (const std::bad_alloc&) {
      EXPECT_EQ(received, before);
    } catch (const Error& error) {
      ++unknown;
      EXPECT_EQ(error.code(), ErrorCode::outcome_unknown) << error.what();
      EXPECT_EQ(error.detail().cause, ErrorCode::out_of_memory) << error.what();
      EXPECT_TRUE(error.detail().outcome_unknown);
      EXPECT_TRUE(error.detail().attempted_at);
      // If memory runs out after the answer has arrived, the hook gets the status, and no write counts as given up.
      EXPECT_LE(hooks->given_up - given_up, 1);
    }
    EXPECT_EQ(hooks->begun, hooks->ended);
  });
  EXPECT_GT(unknown, 0);
  EXPECT_GT(hooks->given_up, 0);
  EXPECT_EQ(hooks->given_up, hooks->unknown);
}

TEST(Allocation, EveryAttemptOfAListEnds) {
  test::Server server([](const std::string& head) {
    const auto number = head.substr(head.find("page=") + 5, 1);
    return test::Server::json(test::page_text({{number}, std::stoi(number), 3, 3}));
  });
  auto options = server.options();
  const auto hooks = std::make_shared<CountingHooks>();
  options.hooks = hooks;
  each_allocation_fails([&](auto starved) {
    {
      const Client client(options);
      auto orders = client.subscriptions().orders("s");
      try {
        starved([&] {
          while (orders.next()) {
          }
        });
      } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the hooks are checked below
      }
    }
    EXPECT_EQ(hooks->begun, hooks->ended);
  });
  EXPECT_GT(hooks->begun, 0);
}

TEST(Allocation, APageThatWasNotTakenIsTakenWholeTheNextTime) {
  std::vector<std::shared_ptr<const detail::Document>> pages;
  for (int page = 1; page <= 2; ++page) {
    const auto first = "\"a" + std::to_string(2 * page - 1) + '"';
    const auto second = "\"a" + std::to_string(2 * page) + '"';
    pages.push_back(test::parse(test::page_text({{first, second}, page, 2, 4})).document());
  }
  for (const bool strict : {false, true}) {
    each_allocation_fails([&](auto starved) {
      detail::PagerOptions options;
      options.strict = strict;
      detail::PagerCore core(options);
      std::string ids;
      while (const auto wanted = core.wanted()) {
        const auto& page = pages.at(static_cast<std::size_t>(wanted->page - 1));
        try {
          starved([&] { core.accept(page); });
        } catch (const std::bad_alloc&) {
          continue;  // the next iteration requests the same page again
        }
        while (const auto item = core.take_item()) ids += item->find("id").value().text();
      }
      EXPECT_EQ(ids, "a1a2a3a4");
      EXPECT_EQ(core.verdict().value().reason, "");
    });
  }
}

}  // namespace
