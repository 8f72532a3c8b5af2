// Calls on a loop, and a charge on it that the ledger judges.
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi_scenarios.hpp"

namespace torture::abi {
namespace {

constexpr billcore_call_options* no_options = nullptr;
constexpr billcore_done no_done = nullptr;

class LoopCharge : public Scenario {
 public:
  explicit LoopCharge(const Place& place) : place_(place) {}
  void prepare() override { prepare_client(given_, place_.base_url); }
  void run() override { charge(place_.amount); }
  void after(bool) override { charge(place_.amount_after); }

 private:
  void charge(int amount) {
    const auto operation = make(&billcore_operation_new, text("subscriptions.charge"));
    call(&billcore_operation_set_text, operation, text("id"), text("sub"));
    call(&billcore_operation_set_int64, operation, text("product_id"), std::int64_t{1});
    call(&billcore_operation_set_int64, operation, text("amount"), std::int64_t{amount});
    call(&billcore_loop_start, given_.loop, operation, no_options, no_done, nullptr, nullptr);
    const auto result = end_of_call(given_.loop);
    require(billcore_result_kind_of(result) == BILLCORE_RESULT_ORDER, "a charge without its order");
  }

  Place place_;
  Given given_;
};

}  // namespace

// If a step of the loop fails, ends the torture run, so that no later call is made to fail, then goes on. The wait is a
// direct system call, which the interposer does not replace: it is the user's code, and must not fail.
Owned<billcore_result> end_of_call(billcore_loop* loop, billcore_status expected) {
  while (true) {
    pollfd descriptor{billcore_loop_descriptor(loop), POLLIN, 0};
    static_cast<void>(syscall(SYS_poll, &descriptor, 1, -1));
    bool more = false;
    if (billcore_loop_process(loop, &more, nullptr) != BILLCORE_OK) torture_end();
    billcore_ticket ticket = 0;
    billcore_result* result = nullptr;
    billcore_error* failure = nullptr;
    if (billcore_loop_next(loop, &ticket, &result, &failure, nullptr) != BILLCORE_OK) continue;
    const auto status = billcore_error_status(failure);
    if (status != BILLCORE_OK && status != expected) raise(status, failure);
    billcore_error_free(failure);
    require(status == expected, "the call should have failed");
    return Owned(result);
  }
}

std::unique_ptr<Scenario> make_loop_charge(const Place& place) { return std::make_unique<LoopCharge>(place); }

}  // namespace torture::abi
