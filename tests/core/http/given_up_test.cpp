// Tests what the peer of a connection sees when the client gives up a request: a write must be taken back from the
// kernel, so its connection is reset; the connection of any other request ends in the ordinary way.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <functional>
#include <future>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "http/engine.hpp"
#include "support/server.hpp"

namespace billcore::detail {
namespace {

using namespace std::chrono_literals;
using test::Server;

Request request_to(const auto& server, bool write, Deadline deadline = std::nullopt) {
  static const auto none = std::make_shared<RequestHeaders>(std::vector<std::string>{});
  return {write ? "POST" : "GET",
          server.url(),
          write ? std::optional<std::string>("{}") : std::nullopt,
          deadline,
          none,
          false,
          write};
}

const Server::Answer never = [](const std::string& /*head*/) { return std::string("+"); };

// Waits for the end of the server's only connection; returns whether the client has reset it.
bool is_reset(const Server& server) {
  while (server.accepted == 0 || server.open > 0) std::this_thread::yield();
  return server.resets > 0;
}

// Starts a request, and runs the engine until the server has received it.
InFlight* start(Engine& engine, const Server& server, bool write, bool loop = false) {
  if (loop) static_cast<void>(engine.descriptor());
  auto* const flight = engine.start(request_to(server, write), [](Transfer&&) { ADD_FAILURE(); });
  if (!loop) {
    EXPECT_TRUE(engine.drive([&] { return server.asked > 0; }, {}));
  }
  while (server.asked == 0) engine.process();
  return flight;
}

TEST(GivenUp, TheConnectionOfAWriteIsReset) {
  using GiveUp = std::function<void(std::unique_ptr<Engine>&, InFlight*)>;
  const std::vector<std::pair<const char*, GiveUp>> ways{
      {"cancel", [](auto& engine, InFlight* flight) { engine->cancel(flight); }},
      {"detach", [](auto& engine, InFlight* flight) { engine->detach(flight); }},
      {"destructor", [](auto& engine, InFlight*) { engine.reset(); }},
  };
  for (const auto& [name, give_up] : ways) {
    for (const bool loop : {false, true}) {
      const Server server(never);
      auto engine = std::make_unique<Engine>(TransportOptions());
      give_up(engine, start(*engine, server, true, loop));
      EXPECT_TRUE(is_reset(server)) << name << loop;
    }
  }
}

TEST(GivenUp, AReadIsEndedAsUsual) {
  const Server server(never);
  Engine engine({});
  SendTime sent_at;
  EXPECT_TRUE(engine.cancel(start(engine, server, false), &sent_at));
  EXPECT_GT(sent_at.utc, Instant());
  EXPECT_FALSE(is_reset(server));
  auto* const unsent = engine.start(request_to(server, false), [](Transfer&&) { ADD_FAILURE(); });
  EXPECT_FALSE(engine.cancel(unsent)) << "nothing was sent, because the engine was not driven";
  EXPECT_FALSE(engine.cancel(unsent)) << "it has ended";
}

std::optional<Transfer> run(Engine& engine, Request request, bool loop) {
  std::optional<Transfer> out;
  if (loop) static_cast<void>(engine.descriptor());
  engine.start(std::move(request), [&out](Transfer&& transfer) { out = std::move(transfer); });
  if (!loop) {
    EXPECT_TRUE(engine.drive([&out] { return out.has_value(); }, {}));
    return out;
  }
  while (!out) {
    pollfd ready{engine.descriptor(), POLLIN, 0};
    poll(&ready, 1, -1);
    engine.process();
  }
  return out;
}

TEST(GivenUp, AtTheDeadlineTheConnectionOfAWriteIsReset) {
  for (const bool loop : {false, true}) {
    const Server server(never);
    Engine engine({});
    const auto deadline = SteadyClock::now() + 300ms;
    const auto out = run(engine, request_to(server, true, deadline), loop);
    EXPECT_GE(SteadyClock::now(), deadline - 1ms);
    EXPECT_EQ(out->failure, Failure::timeout) << out->reason;
    EXPECT_TRUE(out->sent);
    EXPECT_FALSE(out->sent_late);
    EXPECT_TRUE(is_reset(server));
  }
}

// An answer that is incomplete, too large or not HTTP also leaves the outcome of a write unknown.
TEST(GivenUp, AnUnusableAnswerResetsTheConnection) {
  for (const std::string answer : {"+HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{}", "+no HTTP\r\n\r\n"}) {
    const Server server([&](const std::string&) { return answer; });
    TransportOptions options;
    options.max_response = 1000;
    Engine engine(options);
    EXPECT_NE(run(engine, request_to(server, true), false)->failure, Failure::none);
    EXPECT_TRUE(is_reset(server)) << answer;
  }
}

// The connection of an answered write ends as usual, at once or when its engine is destroyed.
TEST(GivenUp, AnAnsweredWriteIsNotReset) {
  for (const std::string more : {"", "Connection: close\r\n"}) {
    const Server server([&](const std::string&) { return Server::kept("{}", 402, more); });
    {
      Engine engine({});
      EXPECT_EQ(run(engine, request_to(server, true, SteadyClock::now() + 30s), false)->status, 402);
    }
    EXPECT_FALSE(is_reset(server)) << more;
  }
}

// A server that keeps its connections. It answers the first two requests when `go` is set, and if `answers_later`, later
// requests when `go_later` is set.
class Keeper {
 public:
  explicit Keeper(bool answers_later) : answers_later_(answers_later) {
    accepting_ = std::async(std::launch::async, [this] {
      std::vector<std::future<void>> connections;
      for (int accepted = listener_.accept_one(); accepted >= 0; accepted = listener_.accept_one()) {
        connections.push_back(std::async(std::launch::async, [this, accepted] { serve(accepted); }));
      }
    });
  }
  ~Keeper() { listener_.stop(); }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  [[nodiscard]] std::string url() const { return listener_.url("/"); }
  std::atomic<int> requests = 0;
  std::atomic<int> answers = 0;
  std::atomic<int> ends = 0;    // of connections with a request that was not answered
  std::atomic<int> resets = 0;  // among them
  std::promise<void> go;
  std::promise<void> go_later;

 private:
  void serve(int accepted) {
    std::array<char, 4096> room{};
    bool waits = false;
    ssize_t got = 0;
    while ((got = read(accepted, room.data(), room.size())) > 0) {
      const bool later = ++requests > 2;
      waits = later && !answers_later_;
      if (waits) continue;
      (later ? may_go_later_ : may_go_).wait();
      constexpr std::string_view answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
      static_cast<void>(send(accepted, answer.data(), answer.size(), MSG_NOSIGNAL));
      ++answers;
    }
    if (waits && got < 0 && errno == ECONNRESET) ++resets;
    if (waits) ++ends;
    close(accepted);
  }

  test::Listener listener_;
  const bool answers_later_;
  std::shared_future<void> may_go_ = go.get_future().share();
  std::shared_future<void> may_go_later_ = go_later.get_future().share();
  std::future<void> accepting_;
};

// In an event loop, a `done` may start writes over a connection whose own write is answered, but not told yet.
class NextWrites {
 public:
  NextWrites(Keeper& keeper, bool cancels) : keeper_(keeper), cancels_(cancels) {
    static_cast<void>(engine.descriptor());
    for (auto& each : first_) {
      each = engine.start(request_to(keeper_, true), [this, &each](auto&&) {
        each = nullptr;
        go_on();
      });
    }
    while (keeper_.requests < 2) engine.process();
    keeper_.go.set_value();
    while (keeper_.answers < 2) std::this_thread::yield();
    while (next.empty()) engine.process();
  }
  Engine engine{{}};
  std::vector<InFlight*> next;
  std::vector<Failure> ends;  // of `next`

 private:
  void go_on() {
    if (!next.empty()) return;
    for (int i = 0; i < 2; ++i) {
      next.push_back(
          engine.start(request_to(keeper_, true), [this](Transfer&& transfer) { ends.push_back(transfer.failure); }));
    }
    for (auto* const each : first_) {
      if (cancels_ && each != nullptr) engine.cancel(each);
    }
  }

  Keeper& keeper_;
  const bool cancels_;
  std::array<InFlight*, 2> first_{};
};

TEST(GivenUp, TheWriteBeforeItDoesNotReleaseTheConnection) {
  Keeper keeper(false);
  NextWrites writes(keeper, false);
  while (keeper.requests < 4) writes.engine.process();
  for (auto* const each : writes.next) writes.engine.cancel(each);
  while (keeper.ends < 2) std::this_thread::yield();
  EXPECT_EQ(keeper.resets, 2);
}

TEST(GivenUp, TheWriteBeforeItDoesNotResetTheConnection) {
  Keeper keeper(true);
  NextWrites writes(keeper, true);
  keeper.go_later.set_value();
  while (writes.ends.size() < 2) writes.engine.process();
  EXPECT_EQ(writes.ends, std::vector(2, Failure::none));
}

// After a close, a forked child that has the socket open would keep the connection alive.
TEST(GivenUp, AForkedChildDoesNotDelayTheReset) {
  const Server server(never);
  Engine engine({});
  auto* const flight = start(engine, server, true);
  std::array<int, 2> life{};
  ASSERT_EQ(pipe(life.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(life[1]);
    char byte = 0;
    _exit(read(life[0], &byte, 1) == 0 ? 0 : 1);  // lives until the parent closes the pipe
  }
  engine.cancel(flight);
  EXPECT_TRUE(is_reset(server));
  close(life[1]);
  close(life[0]);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace billcore::detail
