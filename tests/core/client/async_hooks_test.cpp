// Tests hooks that cancel or start operations of the AsyncClient that calls them, or release that client.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "billcore/async_client.hpp"
#include "client/awaited.hpp"
#include "support/attempts.hpp"

namespace billcore {
namespace {

using test::End;
using test::get;
using test::impossible;
using test::run_until;
using test::Server;

TEST(AsyncHooks, AHookMayCancelItsOwnOperation) {
  struct Cancelling final : Hooks {
    void act(const char* moment) {
      told += std::string(moment) + " ";
      if (moment != when) return;
      const auto cancelled = awaited->cancel(call);
      EXPECT_EQ(cancelled.outcome_unknown, is_write);
    }
    void on_request(const Attempt&) override { act("request"); }
    void on_response(const Attempt&) override { act("response"); }
    void on_retry(const Attempt&) override { act("retry"); }
    AsyncClient* awaited = nullptr;
    AsyncClient::CallId call = 1;
    std::string_view when;
    bool is_write = false;
    std::string told;
  };
  const Server server([](const std::string&) { return Server::kept("{}", 429); });
  auto client_options = server.options();
  client_options.max_retries = 2;
  const Client client(client_options);
  const auto run = [&](std::string_view when, bool is_write) {
    AsyncClient awaited(client);
    const auto hooks = std::make_shared<Cancelling>();
    hooks->awaited = &awaited;
    hooks->when = when;
    hooks->is_write = is_write;
    CallOptions options;
    options.hooks = hooks;
    End end;
    static_cast<void>(
        awaited.start(is_write ? operations::subscriptions::cancel(Id("s")) : get("s"), options, end.done()));
    run_until(awaited, [&] { return end.called; });
    EXPECT_EQ(awaited.running(), 0U);
    EXPECT_EQ(end.error ? end.error->code() : ErrorCode::ok,
              when == "request" ? ErrorCode::interrupted : ErrorCode::rate_limit);
    return hooks->told;
  };
  EXPECT_EQ(run("response", false), "request response ");
  EXPECT_EQ(run("response", true), "request response ");
  EXPECT_EQ(run("retry", false), "request response retry ");
  EXPECT_EQ(run("request", true), "request response ");
}

TEST(AsyncHooks, AHookMayStartAnotherOperation) {
  struct Starting final : Hooks {
    void on_request(const Attempt&) override {
      if (std::exchange(started, true)) return;
      static_cast<void>(awaited->start(impossible(), {}, inner.done()));
      EXPECT_FALSE(inner.called);
    }
    AsyncClient* awaited = nullptr;
    bool started = false;
    End inner;
  };
  const Server server(test::silent);
  const Client client(server.options());
  AsyncClient awaited(client);
  const auto hooks = std::make_shared<Starting>();
  hooks->awaited = &awaited;
  CallOptions options;
  options.hooks = hooks;
  End outer;
  static_cast<void>(awaited.start(impossible(), options, outer.done()));
  EXPECT_FALSE(outer.called || hooks->inner.called) << "called back within start()";
  run_until(awaited, [&] { return outer.called && hooks->inner.called; });
}

TEST(AsyncHooks, AHookMayReleaseTheLastClientOfItsLoop) {
  struct Releasing final : Hooks {
    void on_request(const Attempt&) override { awaited.reset(); }
    std::unique_ptr<AsyncClient> awaited;
  };
  const Server server(test::silent);
  const Client client(server.options());
  const auto hooks = std::make_shared<Releasing>();
  hooks->awaited = std::make_unique<AsyncClient>(client);
  CallOptions options;
  options.hooks = hooks;
  static_cast<void>(hooks->awaited->start(get("s"), options, [](Completed&) { ADD_FAILURE() << "called back"; }));
  EXPECT_EQ(hooks->awaited, nullptr);
}

}  // namespace
}  // namespace billcore
