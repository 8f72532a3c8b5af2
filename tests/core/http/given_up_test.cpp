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
#include <future>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "http/engine.hpp"
#include "support/listener.hpp"

namespace billcore::detail {
namespace {

using namespace std::chrono_literals;

// A server that reads one request, calls `then` with the connection, and then waits for the end of the connection.
class Peer {
 public:
  enum class End { closed, reset };

  explicit Peer(std::function<void(int)> then = [](int) {}) {
    end_ = std::async(std::launch::async, [this, then = std::move(then)] {
      const int accepted = listener_.accept_one();
      std::array<char, 4096> room{};
      EXPECT_GT(read(accepted, room.data(), room.size()), 0);
      arrived_.set_value();
      then(accepted);
      const auto got = read(accepted, room.data(), room.size());
      const auto end = got < 0 && errno == ECONNRESET ? End::reset : End::closed;
      EXPECT_TRUE(got == 0 || end == End::reset) << got << ' ' << errno;
      close(accepted);
      return end;
    });
  }

  [[nodiscard]] std::string url() const { return listener_.url("/"); }
  [[nodiscard]] bool has_request() const { return arrival_.wait_for(0s) == std::future_status::ready; }
  [[nodiscard]] End end() { return end_.get(); }

 private:
  test::Listener listener_;
  std::promise<void> arrived_;
  std::shared_future<void> arrival_ = arrived_.get_future().share();
  std::future<End> end_;
};

Request request_to(const auto& peer, bool write, Deadline deadline = std::nullopt) {
  static const auto none = std::make_shared<RequestHeaders>(std::vector<std::string>{});
  return {write ? "POST" : "GET",
          peer.url(),
          write ? std::optional<std::string>("{}") : std::nullopt,
          deadline,
          none,
          false,
          write};
}

struct Way {
  const char* name;
  std::function<void(Engine&, InFlight*)> give_up;
};

TEST(GivenUp, TheConnectionOfAWriteIsReset) {
  const std::vector<Way> ways{
      {"cancel", [](Engine& engine, InFlight* flight) { engine.cancel(flight); }},
      {"detach", [](Engine& engine, InFlight* flight) { engine.detach(flight); }},
      {"destructor", [](Engine&, InFlight*) {}},
  };
  for (const auto& way : ways) {
    for (const bool loop : {false, true}) {
      Peer peer;
      {
        Engine engine({});
        if (loop) static_cast<void>(engine.descriptor());
        auto* const flight = engine.start(request_to(peer, true), [](Transfer&&) { ADD_FAILURE(); });
        const auto arrived = [&] { return peer.has_request(); };
        if (loop) {
          while (!arrived()) engine.process();
        } else {
          EXPECT_TRUE(engine.drive(arrived, {}));
        }
        way.give_up(engine, flight);
        if (way.name != std::string("destructor")) {
          EXPECT_EQ(peer.end(), Peer::End::reset) << way.name << loop;
          continue;
        }
      }
      EXPECT_EQ(peer.end(), Peer::End::reset) << way.name << loop;
    }
  }
}

TEST(GivenUp, AReadIsEndedAsUsual) {
  Peer peer;
  Engine engine({});
  auto* const flight = engine.start(request_to(peer, false), [](Transfer&&) { ADD_FAILURE(); });
  EXPECT_TRUE(engine.drive([&] { return peer.has_request(); }, {}));
  engine.cancel(flight);
  EXPECT_EQ(peer.end(), Peer::End::closed);
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
    Peer peer;
    Engine engine({});
    const auto out = run(engine, request_to(peer, true, SteadyClock::now() + 300ms), loop);
    EXPECT_EQ(out->failure, Failure::timeout) << out->reason;
    EXPECT_TRUE(out->sent);
    EXPECT_FALSE(out->sent_late);
    EXPECT_EQ(peer.end(), Peer::End::reset);
  }
}

// An answer that is incomplete, too large or not HTTP also leaves the outcome of a write unknown.
TEST(GivenUp, AnUnusableAnswerResetsTheConnection) {
  for (const std::string answer : {"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{}", "no HTTP\r\n\r\n"}) {
    Peer peer([&](int accepted) { static_cast<void>(send(accepted, answer.data(), answer.size(), MSG_NOSIGNAL)); });
    TransportOptions options;
    options.max_response = 1000;
    Engine engine(options);
    const auto out = run(engine, request_to(peer, true), false);
    EXPECT_NE(out->failure, Failure::none);
    EXPECT_EQ(peer.end(), Peer::End::reset) << answer;
  }
}

// The connection of an answered write ends as usual, at once or when its engine is destroyed.
TEST(GivenUp, AnAnsweredWriteIsNotReset) {
  for (const std::string more : {"", "Connection: close\r\n"}) {
    Peer peer([&](int accepted) {
      const auto answer = "HTTP/1.1 402 No\r\nContent-Length: 2\r\n" + more + "\r\n{}";
      static_cast<void>(send(accepted, answer.data(), answer.size(), MSG_NOSIGNAL));
    });
    {
      Engine engine({});
      EXPECT_EQ(run(engine, request_to(peer, true, SteadyClock::now() + 30s), false)->status, 402);
    }
    EXPECT_EQ(peer.end(), Peer::End::closed) << more;
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
  Peer peer;
  Engine engine({});
  auto* const flight = engine.start(request_to(peer, true), [](Transfer&&) { ADD_FAILURE(); });
  EXPECT_TRUE(engine.drive([&] { return peer.has_request(); }, {}));
  std::array<int, 2> life{};
  ASSERT_EQ(pipe(life.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(life[1]);
    char byte = 0;
    _exit(read(life[0], &byte, 1) == 0 ? 0 : 1);  // lives until the parent closes the pipe
  }
  engine.cancel(flight);
  EXPECT_EQ(peer.end(), Peer::End::reset);
  close(life[1]);
  close(life[0]);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace billcore::detail
