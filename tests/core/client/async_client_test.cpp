// Tests AsyncClient in a loop that polls the client's descriptor with poll(2).
#include "billcore/async_client.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "billcore/error.hpp"
#include "client/awaited.hpp"
#include "support/server.hpp"

namespace billcore {
namespace {

using test::demo_id;
using test::End;
using test::generous;
using test::get;
using test::impossible;
using test::run_until;
using test::Sandbox;
using namespace std::chrono_literals;

/// A server that accepts connections and never answers.
class Silent {
 public:
  [[nodiscard]] Client client() const {
    ClientOptions options;
    options.base_url = listener_.url("/acct");
    options.api_key = "key";
    options.max_retries = 0;
    return Client(options);
  }
  /// Accepts the next connection and reads its request.
  [[nodiscard]] int accept_one() const {
    const int peer = listener_.accept_one();
    std::string head;
    char c = 0;
    while (!head.ends_with("\r\n\r\n") && read(peer, &c, 1) == 1) head += c;
    return peer;
  }

 private:
  test::Listener listener_;
};

/// Waits until the peer has closed this connection.
bool ends(int peer) {
  pollfd watched{peer, POLLIN, 0};
  char c = 0;
  return poll(&watched, 1, generous) == 1 && read(peer, &c, 1) <= 0;
}

bool is_quiet(int peer) {
  pollfd watched{peer, POLLIN, 0};
  return poll(&watched, 1, 100) == 0;
}

/// Runs the loop until the server has received a request; returns the server's side of the connection.
int run_until_accepted(AsyncClient& client, const Silent& server) {
  std::atomic<int> peer{-1};
  std::thread accepting([&] { peer = server.accept_one(); });
  pollfd watched{client.descriptor(), POLLIN, 0};
  while (peer < 0 && poll(&watched, 1, 10) >= 0) client.process();
  accepting.join();
  return peer;
}

TEST(AsyncClient, OneDescriptorIsAllThatALoopNeeds) {
  const auto client = Sandbox::fresh().client();
  const auto id = demo_id(client);
  AsyncClient awaited(client);
  const int descriptor = awaited.descriptor();
  End end;
  const auto call = awaited.start(get(id), {}, end.done());
  EXPECT_GT(call, 0U);
  EXPECT_FALSE(end.called) << "never from within start()";
  EXPECT_EQ(awaited.running(), 1U);
  run_until(awaited, [&] { return end.called; });
  EXPECT_EQ(end.id, id);
  EXPECT_EQ(awaited.running(), 0U);
  EXPECT_EQ(awaited.descriptor(), descriptor);
  EXPECT_FALSE(awaited.cancel(call).outcome_unknown) << "cancelling a completed call does nothing";
}

TEST(AsyncClient, TwoHundredAtOnce) {
  auto& sandbox = Sandbox::fresh();
  const auto client = sandbox.client();
  const auto id = demo_id(client);
  AsyncClient awaited(client);
  std::vector<End> all(200);
  for (auto& end : all) static_cast<void>(awaited.start(get(id), {}, end.done()));
  EXPECT_EQ(awaited.running(), 200U);
  run_until(awaited, [&] { return awaited.running() == 0; });
  for (const auto& end : all) EXPECT_EQ(end.id, id) << (end.error ? end.error->what() : "");
}

TEST(AsyncClient, AnOperationThatCannotStartEndsInProcess) {
  const auto client = Sandbox::fresh().client();
  AsyncClient awaited(client);
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

TEST(AsyncClient, RetriesByItself) {
  auto& sandbox = Sandbox::fresh();
  const auto client = sandbox.client();
  const auto id = demo_id(client);
  sandbox.fault(R"({"kind":"status","status":503,"method":"GET","path":"/subscription/*","times":2})");
  AsyncClient awaited(client);
  End end;
  static_cast<void>(awaited.start(get(id), {}, end.done()));
  run_until(awaited, [&] { return end.called; });
  EXPECT_EQ(end.id, id) << (end.error ? end.error->what() : "");
  EXPECT_EQ(end.attempts, 3);
}

TEST(AsyncClient, KeepsDeadlines) {
  const Silent server;
  AsyncClient awaited(server.client());
  End read;
  End write;
  CallOptions options;
  options.timeout = 2s;
  const auto begun = std::chrono::steady_clock::now();
  static_cast<void>(awaited.start(get("s"), options, read.done()));
  static_cast<void>(awaited.start(operations::subscriptions::cancel(Id("s")), options, write.done()));
  run_until(awaited, [&] { return read.called && write.called; });
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 1990ms);
  ASSERT_TRUE(read.error && write.error);
  EXPECT_EQ(read.error->code(), ErrorCode::timeout);
  EXPECT_EQ(write.error->code(), ErrorCode::outcome_unknown);
}

TEST(AsyncClient, ADeadlinePassesInTheQueue) {
  const Silent server;
  AsyncClient awaited(server.client());
  CallOptions forever;
  forever.timeout = no_timeout;
  std::vector<End> others(100);
  for (auto& end : others) static_cast<void>(awaited.start(get("s"), forever, end.done()));
  End late;
  CallOptions options;
  options.timeout = 200ms;
  static_cast<void>(awaited.start(operations::subscriptions::cancel(Id("s")), options, late.done()));
  run_until(awaited, [&] { return late.called; });
  ASSERT_TRUE(late.error);
  EXPECT_EQ(late.error->code(), ErrorCode::timeout) << "nothing was sent";
  EXPECT_EQ(awaited.running(), 100U);
}

TEST(AsyncClient, RefusesBeforeAnythingBegins) {
  auto client = Sandbox::fresh().client();
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

TEST(AsyncClient, CancelEndsARequestAndTellsOfAWrite) {
  const Silent server;
  AsyncClient awaited(server.client());
  const auto never = [](Completed&) { ADD_FAILURE() << "called back for a cancelled operation"; };
  const auto unsent = awaited.cancel(awaited.start(operations::subscriptions::cancel(Id("s")), {}, never));
  EXPECT_FALSE(unsent.outcome_unknown);

  const auto call = awaited.start(operations::subscriptions::cancel(Id("s")), {}, never);
  const int peer = run_until_accepted(awaited, server);
  const auto cancelled = awaited.cancel(call);
  EXPECT_TRUE(cancelled.outcome_unknown);
  EXPECT_NE(cancelled.text.find("POST /subscription/s/cancel"), std::string::npos) << cancelled.text;
  EXPECT_TRUE(ends(peer));
  EXPECT_EQ(awaited.running(), 0U);
  close(peer);
}

// The first completion function cancels all other operations, starts a new one, and throws.
TEST(AsyncClient, AFunctionMayCancelStartAndThrow) {
  const auto client = Sandbox::fresh().client();
  const auto id = demo_id(client);
  AsyncClient awaited(client);
  std::vector<AsyncClient::CallId> calls;
  int told = 0;
  End last;
  for (int i = 0; i < 20; ++i) {
    calls.push_back(awaited.start(get(id), {}, [&](Completed&) {
      if (++told > 1) return;
      for (const auto call : calls) awaited.cancel(call);
      static_cast<void>(awaited.start(get(id), {}, last.done()));
      throw 5;  // the exception does not affect other operations
    }));
  }
  run_until(awaited, [&] { return last.called; });
  EXPECT_EQ(told, 1);
  EXPECT_EQ(last.id, id);
  EXPECT_EQ(awaited.running(), 0U);
}

TEST(AsyncClient, MayBeDestroyedWithOperationsInFlight) {
  const Silent server;
  int peer = -1;
  {
    AsyncClient awaited(server.client());
    static_cast<void>(awaited.start(get("s"), {}, [](Completed&) { ADD_FAILURE(); }));
    peer = run_until_accepted(awaited, server);
    EXPECT_TRUE(is_quiet(peer));
  }
  EXPECT_TRUE(ends(peer));
  close(peer);
}

TEST(AsyncClient, MayBeDestroyedWithinACompletion) {
  const auto client = Sandbox::fresh().client();
  const auto id = demo_id(client);
  auto awaited = std::make_unique<AsyncClient>(client);
  const int descriptor = awaited->descriptor();
  int told = 0;
  for (int i = 0; i < 5; ++i) {
    static_cast<void>(awaited->start(get(id), {}, [&](Completed&) {
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
  auto& sandbox = Sandbox::fresh();
  const auto client = sandbox.client();
  const auto id = demo_id(client);
  ClientChanges changes;
  changes.max_retries = 0;
  AsyncClient awaited(client);
  AsyncClient beside(client.with_options(changes), awaited);
  EXPECT_EQ(awaited.descriptor(), beside.descriptor());
  sandbox.fault(R"({"kind":"status","status":503,"method":"GET","path":"/subscription/*","times":1})");
  End first;
  static_cast<void>(beside.start(get(id), {}, first.done()));
  EXPECT_EQ(awaited.running(), 1U);
  run_until(awaited, [&] { return first.called; });
  ASSERT_TRUE(first.error) << "it has its own options";
  EXPECT_EQ(first.error->code(), ErrorCode::server);
}

TEST(AsyncClient, AForkedChildLeavesTheConnectionsAlone) {
  const Silent server;
  auto awaited = std::make_unique<AsyncClient>(server.client());
  End end;
  static_cast<void>(awaited->start(get("s"), {}, end.done()));
  const int peer = run_until_accepted(*awaited, server);
  const pid_t child = fork();
  if (child == 0) {
    awaited.reset();
    _exit(end.called ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(is_quiet(peer)) << "the child ended the parent's connection";
  const std::string answer = test::ScriptedServer::json(R"({"data":{"id":"s"}})");
  ASSERT_EQ(write(peer, answer.data(), answer.size()), static_cast<ssize_t>(answer.size()));
  run_until(*awaited, [&] { return end.called; });
  EXPECT_EQ(end.id, "s") << (end.error ? end.error->what() : "");
  close(peer);
}

}  // namespace
}  // namespace billcore
