// The contenders of the tables rest and pages that use billcore: the C++ client, and the C client from its shared
// library.
#include <billcore.h>
#include <poll.h>

#include <billcore/client.hpp>
#include <optional>
#include <stdexcept>

#include "ffi_c.h"
#include "native.hpp"
#include "team.hpp"

namespace {

billcore_str c_text(std::string_view text) { return {text.data(), text.size()}; }

void require(billcore_status status) {
  if (status != BILLCORE_OK) throw std::runtime_error(std::string("C: ") + billcore_status_name(status));
}

billcore::ClientOptions options_of(const turns::Server& server, int concurrency, bool http2) {
  billcore::ClientOptions out;
  out.base_url = server.base_url;
  out.api_key = turns::api_key;
  if (!server.ca_file.empty()) out.ca_bundle = server.ca_file;
  if (http2) out.http2 = true;
  out.concurrency = concurrency;
  return out;
}

billcore_client* c_client(const turns::Server& server, int concurrency, bool http2) {
  billcore_client_options* options = nullptr;
  billcore_client* out = nullptr;
  require(billcore_client_options_new(&options, nullptr));
  require(billcore_client_options_set_base_url(options, c_text(server.base_url), nullptr));
  require(billcore_client_options_set_api_key(options, c_text(turns::api_key), nullptr));
  if (!server.ca_file.empty()) require(billcore_client_options_set_ca_bundle(options, c_text(server.ca_file), nullptr));
  if (http2) require(billcore_client_options_enable_http2(options, nullptr));
  require(billcore_client_options_set_concurrency(options, concurrency, nullptr));
  require(billcore_client_new(options, &out, nullptr));
  billcore_client_options_free(options);
  return out;
}

}  // namespace

// The contenders of the area rest. Concurrent GETs use threads that share one client.
namespace rest {
namespace {

using turns::Row;
using turns::Server;

class Cpp {
 public:
  explicit Cpp(const Server& server) : client_(options_of(server, 8, true)) {}

  template <typename Use>
  auto get(const billcore::CallOptions& call, Use use) const {
    const auto one = client_.subscriptions().get(id_, call);
    const auto read_id = one.id();
    return use(std::string_view(read_id.text()), one.reference_id().value_or(""), one.status());
  }
  void run_late(std::chrono::milliseconds timeout) const {
    billcore::CallOptions call;
    call.timeout = timeout;
    try {
      get(call, [](auto&&...) {});
    } catch (const billcore::Error& error) {
      if (error.code() == billcore::ErrorCode::timeout) return;
      throw;
    }
    throw std::runtime_error("the C++ client did not time out");
  }
  template <typename Use>
  auto get(Use use) const {
    return get({}, use);
  }

 private:
  billcore::Client client_;
  billcore::Id id_{std::string(id)};
};

std::string_view text_of(billcore_str text) { return {text.data, text.len}; }

class C {
 public:
  explicit C(const Server& server) : client_(c_client(server, 8, true)) {}
  ~C() { billcore_client_free(client_); }
  C(const C&) = delete;
  C& operator=(const C&) = delete;

  template <typename Use>
  auto get(Use use) const {
    billcore_subscription* one = nullptr;
    require(billcore_subscription_get(client_, c_text(id), nullptr, &one, nullptr));
    return read(one, use);
  }
  template <typename Use>
  static auto read(billcore_subscription* one, Use use) {
    billcore_str read_id{};
    billcore_str name{};
    billcore_str status{};
    bool present = false;
    require(billcore_subscription_id(one, &read_id, nullptr, nullptr));
    require(billcore_subscription_reference_id(one, &name, &present, nullptr));
    require(billcore_subscription_status(one, &status, nullptr));
    auto out = use(text_of(read_id), text_of(name), text_of(status));
    billcore_subscription_free(one);
    return out;
  }
  void run_late(std::chrono::milliseconds timeout) const {
    billcore_call_options* call = nullptr;
    require(billcore_call_options_new(&call, nullptr));
    require(billcore_call_options_set_timeout_ms(call, timeout.count(), nullptr));
    billcore_subscription* one = nullptr;
    const auto status = billcore_subscription_get(client_, c_text(id), call, &one, nullptr);
    billcore_call_options_free(call);
    if (status != BILLCORE_ERROR_TIMEOUT) throw std::runtime_error("the C client did not time out");
  }

 protected:
  [[nodiscard]] billcore_client* client() const { return client_; }

 private:
  billcore_client* client_;
};

// Gets the subscription on a loop of the C ABI: starts the call, and waits on the loop's descriptor for its end.
class CLoop : public C {
 public:
  explicit CLoop(const Server& server) : C(server) { require(billcore_loop_new(client(), &loop_, nullptr)); }
  ~CLoop() { billcore_loop_free(loop_); }
  CLoop(const CLoop&) = delete;
  CLoop& operator=(const CLoop&) = delete;

  template <typename Use>
  auto get(Use use) const {
    billcore_operation* get = nullptr;
    billcore_result* result = nullptr;
    billcore_error* failure = nullptr;
    billcore_ticket ticket = 0;
    billcore_subscription* one = nullptr;
    require(billcore_operation_new(BILLCORE_STR("subscriptions.get"), &get, nullptr));
    require(billcore_operation_set_text(get, BILLCORE_STR("id"), c_text(id), nullptr));
    require(billcore_loop_start(loop_, get, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
    billcore_operation_free(get);
    auto status = billcore_status{BILLCORE_DONE};
    while (status == BILLCORE_DONE) {
      pollfd ready{billcore_loop_descriptor(loop_), POLLIN, 0};
      poll(&ready, 1, -1);
      require(billcore_loop_process(loop_, nullptr, nullptr));
      status = billcore_loop_next(loop_, &ticket, &result, &failure, nullptr);
    }
    require(billcore_error_status(failure));
    require(billcore_result_take_subscription(&result, &one, nullptr));
    return read(one, use);
  }

 private:
  billcore_loop* loop_ = nullptr;
};

template <typename Client>
std::size_t get_many(const void* client, std::size_t count) {
  std::size_t total = 0;
  while (count-- > 0) {
    total += static_cast<const Client*>(client)->get(
        [](auto id, auto name, auto status) { return id.size() + name.size() + status.size(); });
  }
  return total;
}

template <typename Client>
class Ours : public Row {
 public:
  Ours(const Server& server, int at_once) : client_(server) {
    if (at_once > 1) team_ = std::make_unique<turns::Team>(at_once, &get_many<Client>, &client_);
  }
  std::size_t run(std::size_t count) override { return team_ ? team_->run(count) : get_many<Client>(&client_, count); }
  std::string show() override {
    return client_.get([](auto id, auto name, auto status) {
      return std::string(id).append("\t").append(name).append("\t").append(status);
    });
  }
  void run_late(std::chrono::milliseconds timeout) override { client_.run_late(timeout); }

 private:
  Client client_;
  std::unique_ptr<turns::Team> team_;  // destroyed before client_
};

// get_many() on one thread.
class CppMany : public Row {
 public:
  CppMany(const Server& server, int at_once) : client_(options_of(server, 8, true)), at_once_(at_once) {}
  std::size_t run(std::size_t count) override {
    std::size_t total = 0;
    read(count, [&](const billcore::Subscription& one) {
      total += one.id().text().size() + one.reference_id().value_or("").size() + one.status().size();
    });
    return total;
  }
  std::string show() override {
    std::string out;
    read(1, [&](const billcore::Subscription& one) {
      out.append(one.id().text())
          .append("\t")
          .append(one.reference_id().value_or(""))
          .append("\t")
          .append(one.status());
    });
    return out;
  }

 private:
  template <typename Use>
  void read(std::size_t count, Use use) const {
    const auto next = [&count]() -> std::optional<billcore::Id> {
      if (count == 0) return std::nullopt;
      --count;
      return billcore::Id(std::string(id));
    };
    for (auto& got : client_.subscriptions().get_many({next}, {.concurrency = at_once_})) use(got.value.value());
  }

  billcore::Client client_;
  int at_once_;
};

class Charge : public Row {
 public:
  explicit Charge(const Server& server) : client_(options_of(server, 8, true)) {}
  std::size_t run(std::size_t count) override {
    std::size_t total = 0;
    while (count-- > 0) {
      billcore::Charge what;
      what.product_id = product_id;
      what.amount = amount;
      const auto order = client_.subscriptions().charge(id, what);
      total += static_cast<std::size_t>(order.total()) + order.id().text().size() + order.state().size();
    }
    return total;
  }
  std::string show() override { return std::to_string(run(1)); }

 private:
  billcore::Client client_;
};

}  // namespace

std::unique_ptr<Row> make_billcore(std::string_view name, const Server& server, int at_once) {
  if (name == "cpp_charge") return std::make_unique<Charge>(server);
  if (name == "cpp_many") return std::make_unique<CppMany>(server, at_once);
  if (name == "cpp") return std::make_unique<Ours<Cpp>>(server, at_once);
  if (name == "c") return std::make_unique<Ours<C>>(server, at_once);
  if (name == "c_loop") return std::make_unique<Ours<CLoop>>(server, at_once);
  throw std::runtime_error("there is no such row");
}

}  // namespace rest

namespace pages {
namespace {

class Cpp : public turns::Row {
 public:
  Cpp(const turns::Server& server, int at_once) : client_(options_of(server, at_once, false)) {}
  std::size_t run(std::size_t count) override {
    std::size_t sum = 0;
    for (const auto& order : client_.subscriptions().orders(billcore::Id(list_id(count)))) {
      sum += order.id().text().size() + static_cast<std::size_t>(order.total_with_vat()) + order.state().size();
    }
    return sum;
  }
  std::string show() override { return std::to_string(run(1)); }

 private:
  billcore::Client client_;
};

class C : public turns::Row {
 public:
  C(const turns::Server& server, int at_once) : client_(c_client(server, at_once, false)) {}
  C(const C&) = delete;
  C& operator=(const C&) = delete;
  ~C() override { billcore_client_free(client_); }
  std::size_t run(std::size_t count) override { return ffi_list(client_, list_id(count).c_str()); }
  std::string show() override { return std::to_string(run(1)); }

 private:
  billcore_client* client_;
};

}  // namespace

std::unique_ptr<turns::Row> make_billcore(std::string_view name, const turns::Server& server, int at_once) {
  if (name == "cpp") return std::make_unique<Cpp>(server, at_once);
  if (name == "c") return std::make_unique<C>(server, at_once);
  throw std::runtime_error("there is no such row");
}

}  // namespace pages
