// Hooks that record the attempts of each call, and a client of a scripted server that has them.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "billcore/async_client.hpp"
#include "billcore/client.hpp"
#include "billcore/hooks.hpp"
#include "server.hpp"

namespace billcore::test {

/// Hooks that record how each attempt ended.
class ToldAttempts final : public Hooks {
 public:
  void on_request(const Attempt& attempt) override {
    ++begun;
    EXPECT_EQ(line(attempt), std::string(attempt.method) + ' ' + std::to_string(attempt.number));
    if (at_request) at_request();
  }
  void on_response(const Attempt& attempt) override {
    ends.push_back(line(attempt));
    if (at_end) at_end();
  }
  void on_retry(const Attempt& attempt) override { EXPECT_EQ(line(attempt), ends.back()); }

  int begun = 0;
  std::vector<std::string> ends;
  std::function<void()> at_request;
  std::function<void()> at_end;

 private:
  static std::string line(const Attempt& attempt) {
    auto out = std::string(attempt.method) + ' ' + std::to_string(attempt.number);
    if (attempt.status != 0) out += ' ' + std::to_string(attempt.status);
    for (const auto& row : error_code_table) {
      if (attempt.failure != ErrorCode::ok && row.code == attempt.failure) out += std::string(" ") + row.name;
    }
    if (attempt.sent) out += " sent";
    if (attempt.outcome_unknown) out += " unknown";
    if (!attempt.path.empty()) out += " path=" + std::string(attempt.path);
    if (!attempt.request_id.empty()) out += " id=" + std::string(attempt.request_id);
    return out;
  }
};

/// An answer of a Server that never comes.
inline std::string silent(const std::string& /*head*/) { return "+"; }
inline const std::string given_up = "POST 1 INTERRUPTED sent unknown path=/subscription/s/order";

/// A Server, and options for a client that calls this server and has ToldAttempts as its hooks.
struct Scene {
  explicit Scene(Server::Answer answer) : server(std::move(answer)), options(server.options()) { options.hooks = told; }
  [[nodiscard]] Client client() const { return Client(options); }
  /// Returns a function for ClientOptions::interrupt: whether the server has handled at least `count` requests.
  [[nodiscard]] std::function<bool()> asked(int count = 1) {
    return [this, count] { return server.asked >= count; };
  }
  void run_until_asked(AsyncClient& loop, int count = 1) const {
    pollfd watched{loop.descriptor(), POLLIN, 0};
    while (server.asked < count && poll(&watched, 1, 10) >= 0) loop.process();
  }

  std::shared_ptr<ToldAttempts> told = std::make_shared<ToldAttempts>();
  Server server;
  ClientOptions options;
};

inline void charge(const Client& client, const CallOptions& call = {}) {
  try {
    client.subscriptions().charge("s", {.product_id = 1, .amount = 1}, call);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the hooks record the outcome
  }
}

inline Operation charge_operation() {
  return operations::subscriptions::charge(Id("s"), {.product_id = 1, .amount = 1});
}
inline void never(Completed& /*completed*/) { ADD_FAILURE() << "it was cancelled"; }

}  // namespace billcore::test
