// Calls on a loop, while allocations and system calls fail.
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi.hpp"

namespace torture::abi {
namespace {

constexpr billcore_done no_done = nullptr;

// Each attempt that begins must also end, whatever fails.
void count_attempts(void* /*context*/, const billcore_attempt* attempt) {
  if (attempt->moment == BILLCORE_MOMENT_REQUEST) ++open_attempts;
  if (attempt->moment == BILLCORE_MOMENT_RESPONSE) --open_attempts;
}

// If a step of the loop fails, ends the torture run, so that no later call is made to fail, then goes on.
void process(billcore_loop* loop) {
  if (billcore_loop_process(loop, nullptr, nullptr) != BILLCORE_OK) torture_end();
}

struct Ended {
  Owned<billcore_result> result;
  Owned<billcore_error> failure;
};

// The wait is a direct system call, which the interposer does not replace: it is the user's code, and must not fail.
Ended next_end(billcore_loop* loop) {
  while (true) {
    pollfd descriptor{billcore_loop_descriptor(loop), POLLIN, 0};
    static_cast<void>(syscall(SYS_poll, &descriptor, 1, -1));
    process(loop);
    billcore_ticket ticket = 0;
    billcore_result* result = nullptr;
    billcore_error* failure = nullptr;
    if (billcore_loop_next(loop, &ticket, &result, &failure, nullptr) == BILLCORE_OK)
      return {Owned(result), Owned(failure)};
  }
}

class OnLoop : public Scenario {
 public:
  explicit OnLoop(const Place& place) : place_(place) {}
  void prepare() override {
    prepare_client(given_, place_.base_url);
    call(&billcore_options_set_hook, given_.call, &count_attempts, nullptr, nullptr);
  }

 protected:
  billcore_ticket start(billcore_loop* loop, billcore_operation* operation) {
    auto* const options = reinterpret_cast<billcore_call_options*>(static_cast<billcore_options*>(given_.call));
    return std::get<0>(outputs_of(&billcore_loop_start, loop, operation, options, no_done, nullptr, nullptr));
  }
  void get() {
    start(given_.loop, given_.read);
    require(billcore_result_kind_of(end_of_call(given_.loop)) == BILLCORE_RESULT_ORDER, "a read without its order");
  }
  static Owned<billcore_operation> make_charge(int amount) {
    auto operation = make(&billcore_operation_new, text("subscriptions.charge"));
    call(&billcore_operation_set_text, operation, text("id"), text("sub"));
    call(&billcore_operation_set_int64, operation, text("product_id"), std::int64_t{1});
    call(&billcore_operation_set_int64, operation, text("amount"), std::int64_t{amount});
    return operation;
  }
  void charge(int amount) {
    const auto operation = make_charge(amount);
    start(given_.loop, operation);
    require(billcore_result_kind_of(end_of_call(given_.loop)) == BILLCORE_RESULT_ORDER, "a charge without its order");
  }

  Place place_;
  Given given_;
};

class LoopGet : public OnLoop {
 public:
  using OnLoop::OnLoop;
  void run() override { get(); }
  void after(bool) override { get(); }
};

// Makes a call that reuses the connection of an earlier call.
class LoopKeptGet : public LoopGet {
 public:
  using LoopGet::LoopGet;
  void prepare() override {
    LoopGet::prepare();
    get();
  }
};

class LoopCharge : public OnLoop {
 public:
  using OnLoop::OnLoop;
  void run() override { charge(place_.amount); }
  void after(bool) override { charge(place_.amount_after); }
};

// Cancels a charge after `turns` turns of the loop. Cancelling must end the charge's attempt.
template <int turns>
class LoopGivenUp : public LoopKeptGet {
 public:
  using LoopKeptGet::LoopKeptGet;
  void run() override {
    const auto loop = make(&billcore_loop_new, given_.client);
    const auto operation = make_charge(place_.amount);
    const auto ticket = start(loop, operation);
    for (int turn = 0; turn < turns; ++turn) process(loop);
    call(&billcore_loop_cancel, loop, ticket);
    next_end(loop);
    require(open_attempts == 0, "a cancelled attempt was not told as ended");
  }
};

template <typename Made>
std::unique_ptr<Scenario> scenario(const Place& place) {
  return std::make_unique<Made>(place);
}

}  // namespace

Owned<billcore_result> end_of_call(billcore_loop* loop, billcore_status expected) {
  auto ended = next_end(loop);
  const auto status = billcore_error_status(ended.failure);
  if (status != BILLCORE_OK && status != expected) raise(status, ended.failure.give_up());
  require(status == expected, "the call should have failed");
  return std::move(ended.result);
}

const std::vector<Entry>& loop_scenarios() {
  static const std::vector<Entry> entries{
      {"loop-get", scenario<LoopGet>},
      {"loop-get-kept", scenario<LoopKeptGet>},
      {"loop-charge", scenario<LoopCharge>, true},
      {"loop-given-up", scenario<LoopGivenUp<0>>},
      {"loop-given-up-later", scenario<LoopGivenUp<3>>},
  };
  return entries;
}

}  // namespace torture::abi
