#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <optional>
#include <stdexcept>

#include "billcore/async_client.hpp"
#include "hooks.hpp"
#include "interposer.h"
#include "scenario.hpp"

namespace torture {
namespace {

using namespace billcore;

constexpr const char* order_id = "an-order-with-a-long-name-beyond-short-strings";

// A scenario with an AsyncClient, in an event loop that waits for the client's one descriptor.
class AsyncScenario : public Scenario {
 public:
  explicit AsyncScenario(const Place& place) : place_(place) {}
  void prepare() override {
    ClientOptions options;
    options.base_url = place_.base_url;
    options.api_key = "a_key_that_does_not_fit_into_a_small_string";
    options.timeout = std::chrono::minutes(5);  // longer than the limit after which a run counts as hung
    options.max_retries = 0;
    options.hooks = counting_hooks();
    client_.emplace(options);
    async_.emplace(*client_);
  }

 protected:
  /// Runs the loop until the operation has ended; throws the operation's error. If process() throws, first ends the
  /// torture run, so that no later call is made to fail, then continues the loop.
  void call(Operation operation, const char* id) {
    bool ended = false;
    std::exception_ptr failure;
    std::optional<Value> value;
    static_cast<void>(async_->start(std::move(operation), {}, [&](Completed& completed) {
      ended = true;
      try {
        value = completed.resource();
      } catch (...) {
        failure = std::current_exception();
      }
    }));
    while (!ended) {
      wait_until_readable();
      try {
        async_->process();
      } catch (...) {
        torture_end();
      }
    }
    require(async_->running() == 0, "an ended operation counts as running");
    if (failure) std::rethrow_exception(failure);
    require(value && value->find("id").value().text() == id, "another order");
  }
  [[nodiscard]] const Place& place() const noexcept { return place_; }
  [[nodiscard]] AsyncClient& loop() { return *async_; }

 private:
  // Waits with a direct system call, which the interposer does not replace: the loop is the user's code and must not
  // fail.
  void wait_until_readable() const {
    pollfd descriptor{async_->descriptor(), POLLIN, 0};
    static_cast<void>(syscall(SYS_poll, &descriptor, 1, -1));
  }

  Place place_;
  std::optional<Client> client_;
  std::optional<AsyncClient> async_;
};

class AsyncGet : public AsyncScenario {
 public:
  using AsyncScenario::AsyncScenario;
  void run() override { call(operations::orders::get(order_id), order_id); }
  void after(bool) override { call(operations::orders::get(order_id), order_id); }
};

class AsyncKeptGet : public AsyncGet {
 public:
  using AsyncGet::AsyncGet;
  void prepare() override {
    AsyncGet::prepare();
    AsyncGet::run();
  }
};

class AsyncCharge : public AsyncScenario {
 public:
  using AsyncScenario::AsyncScenario;
  void run() override { send(place().amount); }
  void after(bool) override { send(place().amount_after); }

 private:
  void send(int amount) {
    Charge what;
    what.product_id = 1;
    what.amount = amount;
    call(operations::subscriptions::charge("sub", what), "charged");
  }
};

// Cancels a charge after `turns` turns of the loop. Cancelling must end the charge's attempt (see hooks.hpp).
template <int turns>
class AsyncGivenUp : public AsyncKeptGet {
 public:
  using AsyncKeptGet::AsyncKeptGet;
  void run() override {
    Charge what;
    what.product_id = 1;
    what.amount = place().amount;
    const auto id = loop().start(operations::subscriptions::charge("sub", what), {}, [](Completed& /*completed*/) {});
    for (int turn = 0; turn < turns; ++turn) {
      try {
        loop().process();
      } catch (...) {
        torture_end();
      }
    }
    static_cast<void>(loop().cancel(id));
    require(open_attempts == 0, "a cancelled attempt was not told as ended");
  }
};

template <typename Made>
std::unique_ptr<Scenario> make(const Place& place) {
  return std::make_unique<Made>(place);
}

}  // namespace

const std::vector<Entry>& async_scenarios() {
  static const std::vector<Entry> entries{
      {"async-get", make<AsyncGet>},
      {"async-get-kept", make<AsyncKeptGet>},
      {"async-charge", make<AsyncCharge>, true},
      {"async-given-up", make<AsyncGivenUp<0>>},
      {"async-given-up-later", make<AsyncGivenUp<3>>},
  };
  return entries;
}

}  // namespace torture
