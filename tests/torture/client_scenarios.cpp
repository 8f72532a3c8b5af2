#include <optional>

#include "billcore/client.hpp"
#include "call/session.hpp"
#include "hooks.hpp"
#include "scenario.hpp"
#include "server.hpp"

namespace torture {
namespace {

using namespace billcore;

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

class ClientScenario : public Scenario {
 public:
  explicit ClientScenario(const Place& place) : place_(place) {}
  void prepare() override { client_.emplace(options_for(place_, 0)); }

 protected:
  [[nodiscard]] const Place& place() const noexcept { return place_; }
  [[nodiscard]] Client& client() { return *client_; }
  std::optional<Client> client_;

 private:
  Place place_;
};

// Makes a client while allocations or system calls fail. Afterwards the client makes an API call; if the client
// could not be made, a second client makes the API call.
class Construction : public ClientScenario {
 public:
  using ClientScenario::ClientScenario;
  void prepare() override {}
  void run() override { client_.emplace(options_for(place(), 0)); }
  void after(bool completed) override {
    if (!completed) client_.emplace(options_for(place(), 0));
    get(client());
  }
};

class Get : public ClientScenario {
 public:
  using ClientScenario::ClientScenario;
  void run() override { get(client()); }
  void after(bool) override { get(client()); }
};

// Makes an API call that reuses the connection of an earlier API call.
class KeptGet : public Get {
 public:
  using Get::Get;
  void prepare() override {
    Get::prepare();
    get(client());
  }
};

class ChargeOnce : public ClientScenario {
 public:
  using ClientScenario::ClientScenario;
  void run() override { charge(client(), place().amount); }
  void after(bool) override { charge(client(), place().amount_after); }
};

class KeptCharge : public ChargeOnce {
 public:
  using ChargeOnce::ChargeOnce;
  void prepare() override {
    ChargeOnce::prepare();
    get(client());
  }
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
class List : public ClientScenario {
 public:
  using ClientScenario::ClientScenario;
  void prepare() override {
    ClientScenario::prepare();
    names_.reserve(static_cast<std::size_t>(pages * orders_per_page));
  }
  void run() override {
    if (!pager_) pager_.emplace(client().subscriptions().orders("sub"));
    while (true) {
      if (!order_) order_ = pager_->next();
      if (!order_) break;
      names_.push_back(order_->id().text());
      order_.reset();
    }
  }
  void after(bool completed) override {
    // Each page whose prefetch failed may make one further read fail, so at most `pages` reads may fail.
    for (int left = pages; !completed; --left) {
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
    get(client());
  }

 private:
  std::optional<Pager<Order>> pager_;
  std::optional<Order> order_;
  std::vector<std::string> names_;
};

class Close : public KeptGet {
 public:
  using KeptGet::KeptGet;
  void run() override { client().close(); }
  void after(bool) override {
    try {
      get(client());
    } catch (const Error& error) {
      require(error.code() == ErrorCode::config, "a call after close() has another error");
      return;
    }
    throw Wrong("a call after close() succeeded");
  }
};

template <typename Made>
std::unique_ptr<Scenario> make(const Place& place) {
  return std::make_unique<Made>(place);
}

// Makes a scenario in which the server compresses its answers.
template <typename Made>
std::unique_ptr<Scenario> make_compressed(const Place& place) {
  auto compressed = place;
  compressed.base_url += compressed_account;
  return std::make_unique<Made>(compressed);
}

}  // namespace

const std::vector<Entry>& client_scenarios() {
  static const std::vector<Entry> entries{
      {"client", make<Construction>},
      {"get", make<Get>},
      {"get-kept", make<KeptGet>},
      {"charge", make<ChargeOnce>, true},
      {"charge-kept", make<KeptCharge>, true},
      {"charge-retried", make<RetriedCharge>, true},
      {"get-compressed", make_compressed<Get>},
      {"charge-compressed", make_compressed<ChargeOnce>, true},
      {"list", make<List>},
      {"close", make<Close>},
      {"first-client", make<Construction>, false, true, true},
      {"first-get", make<Get>, false, true, true},
      {"first-charge", make<ChargeOnce>, true, true, true},
  };
  return entries;
}

}  // namespace torture
