// Tests AsyncClient in a loop that polls the client's descriptor with poll(2).
#include "billcore/async_client.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "billcore/error.hpp"
#include "client/awaited.hpp"
#include "support/attempts.hpp"

namespace billcore {
namespace {

using test::End;
using test::generous;
using test::get;
using test::impossible;
using test::run_until;
using test::Server;
using namespace std::chrono_literals;

// Answers each request for a subscription.
std::string answer(const std::string& /*head*/) { return Server::kept(R"({"data":{"id":"s"}})"); }

TEST(AsyncClient, OneDescriptorIsAllThatALoopNeeds) {
  const Server server(answer);
  AsyncClient awaited(Client(server.options()));
  const int descriptor = awaited.descriptor();
  End end;
  const auto call = awaited.start(get("s"), {}, end.done());
  EXPECT_GT(call, 0U);
  EXPECT_FALSE(end.called) << "never from within start()";
  EXPECT_EQ(awaited.running(), 1U);
  run_until(awaited, [&] { return end.called; });
  EXPECT_EQ(end.id, "s");
  EXPECT_EQ(awaited.running(), 0U);
  EXPECT_EQ(awaited.descriptor(), descriptor);
  EXPECT_FALSE(awaited.cancel(call).outcome_unknown) << "cancelling a completed call does nothing";
}

TEST(AsyncClient, AnOperationThatCannotStartEndsInProcess) {
  const Server server(answer);
  AsyncClient awaited(Client(server.options()));
  End end;
  static_cast<void>(awaited.start(impossible(), {}, end.done()));
  EXPECT_FALSE(end.called) << "never from within start()";
  run_until(awaited, [&] { return end.called; });
  ASSERT_TRUE(end.error);
  EXPECT_EQ(awaited.running(), 0U);

  End cancelled;
  awaited.cancel(awaited.start(impossible(), {}, cancelled.done()));
  static_cast<void>(awaited.start(impossible(), {}, end.done()));
  end.called = false;
  run_until(awaited, [&] { return end.called; });
  EXPECT_FALSE(cancelled.called);
}

TEST(AsyncClient, ADeadlinePassesInTheQueue) {
  const Server server(test::silent);
  AsyncClient awaited(Client(server.options()));
  CallOptions forever;
  forever.timeout = no_timeout;
  std::vector<End> others(100);
  for (auto& end : others) static_cast<void>(awaited.start(get("s"), forever, end.done()));
  End late;
  CallOptions options;
  options.timeout = 200ms;
  const auto begun = std::chrono::steady_clock::now();
  static_cast<void>(awaited.start(operations::subscriptions::cancel(Id("s")), options, late.done()));
  run_until(awaited, [&] { return late.called; });
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 199ms);
  ASSERT_TRUE(late.error);
  EXPECT_EQ(late.error->code(), ErrorCode::timeout) << "nothing was sent";
  EXPECT_EQ(awaited.running(), 100U);
}

TEST(AsyncClient, RefusesBeforeAnythingBegins) {
  const Server server(answer);
  Client client(server.options());
  AsyncClient awaited(client);
  CallOptions options;
  options.timeout = 0ms;
  const auto code = [&](const CallOptions& call) {
    try {
      static_cast<void>(awaited.start(get("s"), call, [](Completed&) { ADD_FAILURE(); }));
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::ok;
  };
  EXPECT_EQ(code(options), ErrorCode::invalid_argument);
  client.close();
  EXPECT_EQ(code({}), ErrorCode::config);
  EXPECT_EQ(awaited.running(), 0U);
}

// The first completion function cancels all other operations, starts a new one, and throws.
TEST(AsyncClient, AFunctionMayCancelStartAndThrow) {
  const Server server(answer);
  AsyncClient awaited(Client(server.options()));
  std::vector<AsyncClient::CallId> calls;
  int told = 0;
  End last;
  for (int i = 0; i < 20; ++i) {
    calls.push_back(awaited.start(get("s"), {}, [&](Completed&) {
      if (++told > 1) return;
      for (const auto call : calls) awaited.cancel(call);
      static_cast<void>(awaited.start(get("s"), {}, last.done()));
      throw 5;  // the exception does not affect other operations
    }));
  }
  run_until(awaited, [&] { return last.called; });
  EXPECT_EQ(told, 1);
  EXPECT_EQ(last.id, "s");
  EXPECT_EQ(awaited.running(), 0U);
}

TEST(AsyncClient, MayBeDestroyedWithinACompletion) {
  const Server server(answer);
  auto awaited = std::make_unique<AsyncClient>(Client(server.options()));
  const int descriptor = awaited->descriptor();
  int told = 0;
  for (int i = 0; i < 5; ++i) {
    static_cast<void>(awaited->start(get("s"), {}, [&](Completed&) {
      ++told;
      awaited.reset();
    }));
  }
  while (awaited) {
    pollfd watched{descriptor, POLLIN, 0};
    ASSERT_GT(poll(&watched, 1, generous), 0);
    awaited->process();
  }
  EXPECT_GE(told, 1);
}

TEST(AsyncClient, SharesConnectionsWithAnotherOne) {
  const Server server([](const std::string&) { return Server::kept("{}", 503); });
  const Client client(server.options());
  AsyncClient awaited(client.with_options({.max_retries = 2}));
  AsyncClient beside(client, awaited);
  EXPECT_EQ(awaited.descriptor(), beside.descriptor());
  End first;
  static_cast<void>(beside.start(get("s"), {}, first.done()));
  EXPECT_EQ(awaited.running(), 1U);
  run_until(awaited, [&] { return first.called; });
  ASSERT_TRUE(first.error) << "it has its own options";
  EXPECT_EQ(first.error->detail().attempts, 1);
}

}  // namespace
}  // namespace billcore
