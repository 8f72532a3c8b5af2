// Tests the hooks: on_response is called once for each attempt that began, with all that is known about the attempt.
#include "support/attempts.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "billcore/async_client.hpp"
#include "billcore/client.hpp"
#include "support/json_text.hpp"

namespace billcore {
namespace {

using namespace std::chrono_literals;
using namespace test;  // NOLINT(google-build-using-namespace)

// Page 1 of a list of `pages` pages.
std::string page(int items, int pages) {
  Made made{{}, 1, pages, items * pages};
  for (int i = 0; i < items; ++i) made.ids.push_back(std::to_string(i));
  return Server::json(page_text(made));
}
bool is_first(const std::string& head) { return head.find("?page=1 ") != std::string::npos; }

// Answers the request for page 1; leaves the requests for other pages without an answer.
std::string first_page(const std::string& head) { return is_first(head) ? page(2, 4) : "+"; }
const std::string good = Server::json(R"({"data":{"id":"o"}})");
const std::string half = "+HTTP/1.1 200 X\r\nX-Request-Id: req-7\r\nContent-Length: 50\r\n\r\n{";

constexpr const char* between = "a page that times out between two attempts";

struct Case {
  const char* name;
  Server::Answer answer;
  std::function<void(Scene&)> run;
  std::vector<std::string> ends;
};

std::vector<Case> cases() {
  const auto always = [](std::string text) { return [text](const std::string& /*head*/) { return text; }; };
  const auto simply = [](Scene& scene) { charge(scene.client()); };
  const auto with_interrupt = [](Scene& scene) {
    scene.options.interrupt = scene.asked();
    charge(scene.client());
  };
  return {
      {"an answer", always(good), simply, {"POST 1 200 sent"}},
      {"refused", always(Server::json("{}", 402)), simply, {"POST 1 402 sent"}},
      {"status of unknown outcome", always(Server::json("{}", 503)), simply, {"POST 1 503 sent unknown"}},
      {"a read is never of unknown outcome",
       always(Server::json("{}", 503)),
       [](Scene& scene) { EXPECT_THROW((void)scene.client().orders().get("o"), Error); },
       {"GET 1 503 sent"}},
      {"retried",
       [n = 0](const std::string& /*head*/) mutable { return n++ == 0 ? Server::json("{}", 503) : good; },
       [](Scene& scene) {
         scene.options.max_retries = 1;
         (void)scene.client().orders().get("o");
       },
       {"GET 1 503 sent", "GET 2 200 sent"}},
      {"nothing was sent",
       silent,
       [](Scene& scene) {
         scene.options.base_url = "http://127.0.0.1:1/acct";
         scene.options.max_retries = 1;
         charge(scene.client());
       },
       {"POST 1 CONNECTION", "POST 2 CONNECTION"}},
      {"no answer", always(""), simply, {"POST 1 CONNECTION sent unknown"}},
      {"cut off", always(half.substr(1)), simply, {"POST 1 CONNECTION sent unknown id=req-7"}},
      {"too large",
       always(good),
       [](Scene& scene) {
         scene.options.max_response = 5;
         charge(scene.client());
       },
       {"POST 1 DECODE sent unknown"}},
      {"time-out",
       silent,
       [](Scene& scene) {
         scene.options.timeout = 2s;
         charge(scene.client());
       },
       {"POST 1 TIMEOUT sent unknown"}},
      {"cannot begin",
       silent,
       [](Scene& scene) {
         EXPECT_THROW((void)scene.client().request("PUT", '/' + std::string(9'000'000, 'a')), Error);
       },
       {"PUT 1 INVALID_ARGUMENT"}},
      {"interrupt", silent, with_interrupt, {given_up}},
      {"interrupt within the answer", always(half), with_interrupt, {given_up + " id=req-7"}},
      {"an interrupt hook that throws",
       silent,
       [](Scene& scene) {
         scene.options.interrupt = [&scene]() -> bool {
           if (scene.server.asked > 0) throw std::runtime_error("mine");
           return false;
         };
         charge(scene.client());
       },
       {"POST 1 INTERNAL sent unknown path=/subscription/s/order"}},
      {"token",
       silent,
       [](Scene& scene) {
         std::stop_source stop;
         std::thread stopping([&] {
           while (scene.server.asked == 0) std::this_thread::sleep_for(1ms);
           stop.request_stop();
         });
         charge(scene.client(), {.cancel = stop.get_token()});
         stopping.join();
       },
       {given_up}},
      {"a list that is interrupted and left",
       first_page,
       [](Scene& scene) {
         scene.options.interrupt = scene.asked(4);
         const auto client = scene.client();
         auto orders = client.subscriptions().orders("s");
         for (int i = 0; i < 2; ++i) EXPECT_TRUE(orders.next());
         EXPECT_THROW((void)orders.next(), Error);
       },
       {"GET 1 200 sent", "GET 1 INTERRUPTED sent", "GET 1 INTERRUPTED sent", "GET 1 INTERRUPTED sent"}},
      {between,
       [](const std::string& head) {
         return is_first(head) ? page(5000, 2) : "HTTP/1.1 503 X\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n";
       },
       [](Scene& scene) {
         scene.options.max_retries = 1;
         scene.options.timeout = 2s;
         const auto client = scene.client();
         auto orders = client.subscriptions().orders("s");
         for (int i = 0; i < 5000; ++i) {
           EXPECT_TRUE(orders.next());
           if (scene.told->ends.size() < 2) std::this_thread::sleep_for(1ms);
         }
         EXPECT_THROW((void)orders.next(), Error);
       },
       {"GET 1 200 sent", "GET 1 503 sent"}},
      {"a path with the key",
       silent,
       [](Scene& scene) {
         scene.options.api_key = "the-secret-key";
         scene.options.interrupt = scene.asked();
         EXPECT_THROW((void)scene.client().request("POST", "/x/the-secret-key"), Error);
       },
       {"POST 1 INTERRUPTED sent unknown path=/x/[redacted]"}},
      {"loop: cancelled before it is sent",
       silent,
       [](Scene& scene) {
         AsyncClient loop(scene.client());
         (void)loop.cancel(loop.start(charge_operation(), {}, never));
       },
       {"POST 1 INTERRUPTED"}},
      {"loop: cancelled",
       silent,
       [](Scene& scene) {
         AsyncClient loop(scene.client());
         const auto call = loop.start(charge_operation(), {}, never);
         scene.run_until_asked(loop);
         const auto cancelled = loop.cancel(call);
         EXPECT_TRUE(cancelled.outcome_unknown);
         EXPECT_NE(cancelled.text.find("POST /subscription/s/order"), std::string::npos) << cancelled.text;
         EXPECT_FALSE(loop.cancel(call).outcome_unknown);
       },
       {given_up}},
      {"loop: dropped with calls in flight",
       silent,
       [](Scene& scene) {
         AsyncClient loop(scene.client());
         for (int i = 0; i < 2; ++i) static_cast<void>(loop.start(charge_operation(), {}, never));
         scene.run_until_asked(loop, 2);
       },
       {given_up, given_up}},
      {"loop: cannot begin",
       silent,
       [](Scene& scene) {
         AsyncClient loop(scene.client());
         bool called = false;
         static_cast<void>(loop.start(operations::request("PUT", '/' + std::string(9'000'000, 'a'), {}), {},
                                      [&](Completed& /*completed*/) { called = true; }));
         while (!called) loop.process();
       },
       {"PUT 1 INVALID_ARGUMENT"}},
  };
}

TEST(Attempts, EachAttemptEndsOnce) {
  for (const auto& each : cases()) {
    SCOPED_TRACE(each.name);
    Scene scene(each.answer);
    each.run(scene);
    scene.options.hooks.reset();
    EXPECT_EQ(scene.told->begun, static_cast<int>(scene.told->ends.size()));
    EXPECT_EQ(scene.told->ends, each.ends);
  }
}

// Hooks that are called only for writes that the client gave up after they were sent.
class OnlyGivenUp final : public Hooks {
 public:
  [[nodiscard]] bool every_attempt() const noexcept override { return false; }
  void on_request(const Attempt& /*attempt*/) override { ADD_FAILURE() << "not wanted"; }
  void on_response(const Attempt& attempt) override {
    told.append(attempt.path).append(" ").append(attempt.request_id);
  }
  void on_retry(const Attempt& /*attempt*/) override { ADD_FAILURE() << "not wanted"; }
  std::string told;
};

TEST(Attempts, HooksMayWantOnlyWritesThatWereGivenUp) {
  for (const auto& each : cases()) {
    SCOPED_TRACE(each.name);
    Scene scene(each.answer);
    const auto hooks = std::make_shared<OnlyGivenUp>();
    scene.options.hooks = hooks;
    if (each.name == between) continue;  // this case waits for two recorded reads, but OnlyGivenUp records writes only
    each.run(scene);
    std::string expected;
    for (const auto& end : each.ends) {
      if (const auto at = end.find("path="); at != std::string::npos) {
        const auto id = end.find(" id=");
        expected += end.substr(at + 5, id - at - 5) + ' ' + (id == std::string::npos ? "" : end.substr(id + 4));
      }
    }
    EXPECT_EQ(hooks->told, expected);
  }
}

TEST(Attempts, AHookMayThrowAndCallAtTheEnd) {
  Scene scene([](const std::string& head) { return head.starts_with("GET") ? good : std::string("+"); });
  scene.options.interrupt = [&] { return scene.server.asked == 1; };
  const auto client = scene.client();
  scene.told->at_end = [&] {
    if (scene.told->begun == 1) {
      EXPECT_EQ(client.orders().get("o").id().text(), "o");
    }
    throw std::runtime_error("mine");
  };
  charge(client);
  EXPECT_EQ(scene.told->ends, (std::vector<std::string>{given_up, "GET 1 200 sent"}));

  AsyncClient loop(client);
  scene.told->at_end = [&] {
    scene.told->at_end = nullptr;
    static_cast<void>(loop.start(operations::orders::get(Id("o")), {}, [](Completed& /*completed*/) {}));
  };
  (void)loop.cancel(loop.start(charge_operation(), {}, never));
  EXPECT_EQ(loop.running(), 1U);
  while (loop.running() > 0) loop.process();
  EXPECT_EQ(scene.told->ends.back(), "GET 1 200 sent");
  EXPECT_EQ(scene.told->begun, static_cast<int>(scene.told->ends.size()));
}

// Cancels a call at a random moment. If the answer arrives before the cancellation, the call returns the answer. Each
// attempt ends once, whether it was cancelled or answered.
TEST(Attempts, ATokenAtAnyMoment) {
  std::array<std::stop_source, 300> sources;
  std::atomic<std::size_t> turn{0};
  Scene scene([&](const std::string& /*head*/) {
    if (turn % 3 == 0) sources.at(turn).request_stop();
    return good;
  });
  const auto client = scene.client();
  int answers = 0;
  for (auto& source : sources) {
    std::thread stopping([&] {
      for (std::size_t spin = 0; spin < turn * 100; ++spin) std::atomic_signal_fence(std::memory_order_seq_cst);
      if (turn % 3 != 0) source.request_stop();
    });
    try {
      client.subscriptions().charge("s", {.product_id = 1, .amount = 1}, {.cancel = source.get_token()});
      ++answers;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::interrupted);
    }
    stopping.join();
    turn = (turn + 1) % sources.size();
  }
  const auto& ends = scene.told->ends;
  EXPECT_EQ(scene.told->begun, static_cast<int>(ends.size()));
  EXPECT_EQ(std::count(ends.begin(), ends.end(), "POST 1 200 sent"), answers);
}

TEST(Attempts, AThousandCancellationsInALoop) {
  Scene scene([](const std::string& /*head*/) { return good; });
  AsyncClient loop(scene.client());
  std::minstd_rand random(7);  // NOLINT(bugprone-random-generator-seed): the same numbers in each run
  std::vector<AsyncClient::CallId> calls;
  int answers = 0;
  for (int i = 0; i < 1000; ++i) {
    calls.push_back(loop.start(charge_operation(), {}, [&](Completed& /*completed*/) { ++answers; }));
    pollfd watched{loop.descriptor(), POLLIN, 0};
    for (auto turns = random() % 4; turns > 0 && poll(&watched, 1, 1) >= 0; --turns) loop.process();
    (void)loop.cancel(calls[random() % calls.size()]);
    if (random() % 2 == 0) (void)loop.cancel(calls.back());
  }
  for (const auto call : calls) (void)loop.cancel(call);
  const auto& ends = scene.told->ends;
  EXPECT_EQ(scene.told->begun, static_cast<int>(ends.size()));
  EXPECT_EQ(std::count(ends.begin(), ends.end(), "POST 1 200 sent"), answers);
  EXPECT_GT(answers, 0);
  EXPECT_GT(std::count(ends.begin(), ends.end(), given_up), 0);
}

}  // namespace
}  // namespace billcore
