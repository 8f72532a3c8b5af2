// The scenarios that use the C++ API. Those of torture-c, in the files abi_*.cpp, use the C ABI.
#include <array>
#include <optional>

#include "billcore/client.hpp"
#include "billcore/hooks.hpp"
#include "billcore/webhook.hpp"
#include "call/session.hpp"
#include "scenario.hpp"
#include "server.hpp"

namespace torture {
namespace {

using namespace billcore;

// Each attempt for which on_request was called must also get on_response, whatever fails. A write that was sent, and
// whose answer had no memory, is told with its path.
class CountingHooks final : public Hooks {
 public:
  void on_request(const Attempt& /*attempt*/) override { ++open_attempts; }
  void on_response(const Attempt& attempt) override {
    --open_attempts;
    if (attempt.failure == ErrorCode::out_of_memory && attempt.outcome_unknown && attempt.path.empty()) ++open_attempts;
  }
};

// Returns hooks that count attempts, without allocating.
std::shared_ptr<Hooks> counting_hooks() {
  static CountingHooks hooks;
  return {std::shared_ptr<void>(), &hooks};
}

ClientOptions options_for(const Place& place, int max_retries) {
  ClientOptions options;
  options.base_url = place.base_url;
  options.api_key = "a_key_that_does_not_fit_into_a_small_string";
  // The time-out is longer than hang_seconds in main.cpp, so a call that would end only by its time-out counts as hung.
  options.timeout = std::chrono::minutes(5);
  options.max_retries = max_retries;
  options.concurrency = 2;
  options.hooks = counting_hooks();
  return options;
}

constexpr const char* order_id = "an-order-with-a-long-name-beyond-short-strings";

void get(const Client& client) { require(client.orders().get(order_id).id().text() == order_id, "another order"); }

void charge(const Client& client, int amount) {
  Charge what;
  what.product_id = 1;
  what.amount = amount;
  what.description = "a description that does not fit into a small string";
  require(client.subscriptions().charge("sub", what).id().text() == "charged", "another order");
}

// What the steps of a scenario use: the client is made before any call fails, except in the scenario "client".
struct State {
  Place place;
  std::optional<Client> client;
};
using Step = void (*)(State&);

void nothing(State& /*state*/) {}
void make(State& state) { state.client.emplace(options_for(state.place, 0)); }
void get(State& state) { get(*state.client); }
void charge(State& state) { charge(*state.client, state.place.amount); }
void charge_after(State& state) { charge(*state.client, state.place.amount_after); }
void close(State& state) { state.client->close(); }

void make_and_get(State& state) {
  make(state);
  get(state);
}

// If the client could not be made, a second client makes the call.
void get_after(State& state) {
  if (!state.client) make(state);
  get(state);
}

void refused_after_close(State& state) {
  try {
    get(state);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::config, "a call after close() has another error");
    return;
  }
  throw Wrong("a call after close() succeeded");
}

constexpr std::string_view secret = "0123456789abcdef0123456789abcdef";

void make_verifier(State& /*state*/) {
  const std::array<std::string_view, 2> secrets{"fedcba9876543210fedcba9876543210", secret};
  const Verifier verifier(secrets);
}

void sign(State& /*state*/) { require(webhooks::sign("a body", secret).size() == 64, "no signature"); }

template <Step before, Step step, Step then>
class Steps final : public Scenario {
 public:
  explicit Steps(const Place& place) : state_{place, std::nullopt} {}
  void prepare() override { before(state_); }
  void run() override { step(state_); }
  void after(bool /*completed*/) override { then(state_); }

 private:
  State state_;
};

// Makes a charge with two retries, without a wait between the attempts.
class RetriedCharge : public Scenario {
 public:
  explicit RetriedCharge(const Place& place) : place_(place) {}
  void prepare() override {
    detail::RetryEnvironment sources;
    sources.chance = [] { return 0.0; };
    session_ = std::make_shared<detail::Session>(options_for(place_, 2), std::move(sources));
    static_cast<void>(session_->resource(operations::orders::get(order_id), {}));
  }
  void run() override { send(place_.amount); }
  void after(bool) override { send(place_.amount_after); }

 private:
  void send(int amount) {
    Charge what;
    what.product_id = 1;
    what.amount = amount;
    static_cast<void>(session_->resource(operations::subscriptions::charge("sub", what), {}));
  }

  Place place_;
  detail::SessionPtr session_;
};

// Reads a list of several pages. After a failure the test continues with the same pager, which must yield each order
// exactly once.
template <bool strict>
class List : public Scenario {
 public:
  explicit List(const Place& place) : client_(options_for(place, 0)) {}
  void prepare() override { names_.reserve(static_cast<std::size_t>(pages * orders_per_page)); }
  void run() override {
    if (!pager_) pager_.emplace(client_.subscriptions().orders("sub", {.strict = strict}));
    while (true) {
      if (!order_) order_ = pager_->next();
      if (!order_) break;
      names_.push_back(order_->id().text());
      order_.reset();
    }
  }
  void after(bool completed) override {
    // Each page whose prefetch failed may make one further read fail. A strict list reads each page twice.
    for (int left = strict ? 2 * pages : pages; !completed; --left) {
      try {
        run();
        completed = true;
      } catch (...) {
        if (left == 0) throw;
      }
    }
    require(pager_->verdict() && pager_->verdict()->complete, "the list is not complete");
    require(names_.size() == static_cast<std::size_t>(pages * orders_per_page), "another number of orders");
    for (int i = 0; i < pages * orders_per_page; ++i) {
      require(names_[static_cast<std::size_t>(i)] == listed_order(i), "another order");
    }
    pager_.reset();
    get(client_);
  }

 private:
  Client client_;
  std::optional<Pager<Order>> pager_;
  std::optional<Order> order_;
  std::vector<std::string> names_;
};

template <typename Made>
std::unique_ptr<Scenario> scenario(const Place& place) {
  return std::make_unique<Made>(place);
}

template <Step before, Step step, Step then>
std::unique_ptr<Scenario> steps(const Place& place) {
  return std::make_unique<Steps<before, step, then>>(place);
}

// The server compresses its answers.
template <Step before, Step step, Step then>
std::unique_ptr<Scenario> compressed(const Place& place) {
  auto to = place;
  to.base_url += compressed_account;
  return std::make_unique<Steps<before, step, then>>(to);
}

}  // namespace

// A "kept" scenario reuses the connection of an earlier call.
std::vector<Entry> all_entries() {
  return {
      {"client", steps<nothing, make, get_after>},
      {"get", steps<make, get, get>},
      {"get-kept", steps<make_and_get, get, get>},
      {"charge", steps<make, charge, charge_after>, true},
      {"charge-kept", steps<make_and_get, charge, charge_after>, true},
      {"charge-retried", scenario<RetriedCharge>, true},
      {"get-compressed", compressed<make, get, get>},
      {"charge-compressed", compressed<make, charge, charge_after>, true},
      {"list", scenario<List<false>>},
      {"list-strict", scenario<List<true>>},
      {"close", steps<make_and_get, close, refused_after_close>},
      {"first-client", steps<nothing, make, get_after>, false, true, true},
      {"first-get", steps<make, get, get>, false, true, true},
      {"first-charge", steps<make, charge, charge_after>, true, true, true},
      {"first-verifier", steps<nothing, make_verifier, make_verifier>, false, false, true},
      {"first-sign", steps<nothing, sign, sign>, false, false, true},
  };
}

}  // namespace torture
