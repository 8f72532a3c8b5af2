// Tests one client that many threads use: each caller gets its own result, threads share connections, and closing and
// rate limits apply to all threads.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "billcore/client.hpp"
#include "billcore/error.hpp"
#include "support/json_text.hpp"
#include "support/server.hpp"

namespace billcore {
namespace {

using namespace std::chrono_literals;
using test::Server;
using Moment = std::chrono::steady_clock::time_point;

constexpr int threads = 16;

ClientOptions options_of(const Server& server) {
  auto options = server.options();
  options.max_retries = 2;
  options.timeout = 60s;
  return options;
}

// Waits until another thread makes the condition true; returns false after half a minute.
template <typename Condition>
bool becomes_true(Condition&& condition) {
  for (int i = 0; i < 3000 && !condition(); ++i) std::this_thread::sleep_for(10ms);
  return condition();
}

void in_threads(const std::function<void(int)>& work) {
  std::vector<std::thread> running;
  running.reserve(threads);
  for (int number = 0; number < threads; ++number) {
    running.emplace_back([&work, number] { EXPECT_NO_THROW(work(number)) << "thread " << number; });
  }
  for (auto& thread : running) thread.join();
}

std::string line_of(const std::string& head, const std::string& begin) {
  const auto at = head.find(begin);
  return at == std::string::npos
             ? ""
             : head.substr(at + begin.size(), head.find_first_of(" \r?", at + begin.size()) - at - begin.size());
}

// Answers with an order that has the requested id, and the header X-Tenant as its reference_id.
std::string echo(const std::string& head) {
  const auto id = line_of(head, "/order/");
  const auto tenant = line_of(head, "X-Tenant: ");
  if (id.starts_with("none")) return Server::kept(R"({"error":{"code":"c","message":")" + id + "\"}}", 404);
  return Server::kept(R"({"data":{"id":")" + id + R"(","reference_id":")" + tenant + "\"}}");
}

TEST(Threads, ResultsStayWithTheirCallers) {
  constexpr int calls = 1000;
  std::atomic<int> requests{0};
  std::atomic<int> charges{0};
  const Server server([&](const std::string& head) {
    ++requests;
    if (!head.starts_with("POST")) return echo(head);
    ++charges;
    return Server::kept(R"({"data":{"id":"charged"}})");
  });
  const Client client(options_of(server));
  std::atomic<int> good{0};
  in_threads([&](int number) {
    const auto tenant = std::to_string(number);
    // Even-numbered threads use the shared client itself; each other thread uses a copy of the client with a header of
    // its own.
    const auto own = client.with_options({.headers = {{{"X-Tenant", tenant}}}});
    const bool shares = number % 2 == 0;
    const Client& used = shares ? client : own;
    for (int i = 0; i < calls; ++i) {
      const auto id = tenant + "-" + std::to_string(i);
      if (i % 100 == 50) {
        good += used.subscriptions().charge(id, {1, 100, {}, {}, {}}).id() == Id("charged") ? 1 : 0;
      } else if (i % 10 == 5) {
        try {
          static_cast<void>(used.orders().get("none" + id));
        } catch (const Error& error) {
          good += error.code() == ErrorCode::not_found && error.detail().api_message == "none" + id ? 1 : 0;
        }
      } else if (i % 100 == 0) {
        const auto once = used.with_options({.headers = {{{"X-Tenant", "once" + tenant}}}});
        good += once.orders().get(id).reference_id() == "once" + tenant ? 1 : 0;
      } else {
        const auto order = used.orders().get(id);
        good += order.id() == Id(id) && order.reference_id() == (shares ? "" : tenant) ? 1 : 0;
      }
    }
  });
  EXPECT_EQ(good, threads * calls);
  EXPECT_EQ(requests, threads * calls);
  EXPECT_EQ(charges, threads * calls / 100);
  EXPECT_LE(server.accepted, threads);
}

TEST(Threads, ListsSideBySide) {
  constexpr int pages = 8;
  const Server server([](const std::string& head) {
    const auto id = line_of(head, "/subscription/").substr(0, line_of(head, "/subscription/").find('/'));
    const auto page = line_of(head, "page=");
    const auto item = [&](const char* suffix) { return test::quoted(id + "." + page + suffix); };
    return Server::kept(test::page_text({{item("a"), item("b")}, std::stoi(page), pages, 2 * pages}));
  });
  const Client client(options_of(server));
  in_threads([&](int number) {
    for (int round = 0; round < 5; ++round) {
      const auto id = std::to_string(number) + "x" + std::to_string(round);
      std::string seen;
      for (const auto& order : client.subscriptions().orders(id)) seen += std::string(order.id().text()) + " ";
      std::string expected;
      for (int page = 1; page <= pages; ++page) {
        for (const char* suffix : {"a ", "b "}) expected += id + "." + std::to_string(page) + suffix;
      }
      EXPECT_EQ(seen, expected);
    }
  });
}

TEST(Threads, ClosingWhileCallsRun) {
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> requests{0};
    const Server server([&](const std::string& head) {
      ++requests;
      return echo(head);
    });
    {
      Client client(options_of(server));
      std::atomic<int> refused{0};
      std::thread closer([&] {
        EXPECT_TRUE(becomes_true([&] { return requests > 100; }));
        client.close();
      });
      in_threads([&](int number) {
        const auto id = std::to_string(number);
        try {
          for (int i = 0; i < 100'000; ++i) EXPECT_EQ(client.orders().get(id).id(), Id(id));
        } catch (const Error& error) {
          refused += error.code() == ErrorCode::config ? 1 : 0;
          EXPECT_EQ(error.code(), ErrorCode::config) << error.what();
        }
      });
      closer.join();
      EXPECT_EQ(refused, threads);
      // A connection that is in use during close() is closed when its call ends, not only when the client is
      // destroyed.
      EXPECT_TRUE(becomes_true([&] { return server.open == 0; })) << server.open << " connections are open";
    }
  }
}

TEST(Threads, ARateLimitHoldsUpAll) {
  std::mutex mutex;
  std::vector<Moment> arrivals;
  const Server server([&](const std::string& head) {
    const std::lock_guard lock(mutex);
    arrivals.push_back(std::chrono::steady_clock::now());
    return arrivals.size() == 1 ? Server::kept("{}", 429, "Retry-After: 1\r\n") : echo(head);
  });
  const Client client(options_of(server));
  EXPECT_THROW(static_cast<void>(client.with_options({.max_retries = 0}).orders().get("x")), Error);
  in_threads([&](int number) {
    const auto id = std::to_string(number);
    EXPECT_EQ((number % 2 == 0 ? client : client.with_options({})).orders().get(id).id(), Id(id));
  });
  const std::lock_guard lock(mutex);
  ASSERT_EQ(arrivals.size(), std::size_t{threads} + 1);
  for (std::size_t i = 1; i < arrivals.size(); ++i) EXPECT_GE(arrivals[i] - arrivals[0], 1s);
}

}  // namespace
}  // namespace billcore
