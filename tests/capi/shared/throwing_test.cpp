// Tests callbacks that throw C++ exceptions. The library catches the exceptions, and reports an unknown outcome if a
// write was already sent.
#include <poll.h>

#include <atomic>
#include <stdexcept>

extern "C" {
#include "support/client.h"
}

namespace {

std::atomic<bool> held{false};

const char* answer(const char* request) { return held ? nullptr : usual_answer(request); }

void throwing_hook(void* /*context*/, const billcore_attempt* /*attempt*/) { throw std::runtime_error("from a hook"); }
bool throwing_interrupt(void* /*context*/) { throw std::runtime_error("from an interrupt"); }
bool odd_interrupt(void* /*context*/) { throw 5; }
void throwing_release(void* /*context*/) { throw std::runtime_error("from a release"); }

// A hook that throws does not change the result of a call.
void test_hook(const server* at) {
  billcore_call_options* call = new_call_options();
  billcore_client* client = client_of(at);
  CHECK_OK(billcore_call_options_set_hook(call, &throwing_hook, nullptr, &throwing_release, &err));
  CHECK_OK(get(client, "o", call));
  CHECK_OK(charge(client, "s", call));
  billcore_call_options_free(call);
  billcore_client_free(client);
}

void test_interrupt(const server* at, bool (*interrupt)(void*)) {
  billcore_client_options* options = options_for(at);
  CHECK_OK(billcore_client_options_set_interrupt(options, interrupt, nullptr, nullptr, &err));
  billcore_client* client = client_with(options);
  held = true;
  CHECK_FAILS(get(client, "o", nullptr), BILLCORE_ERROR_INTERNAL, "please report it");
  CHECK(charge(client, "s", nullptr) == BILLCORE_ERROR_OUTCOME_UNKNOWN);
  CHECK(billcore_error_outcome_unknown(err) && billcore_error_attempted_at(err, nullptr));
  billcore_error_free(err);
  err = nullptr;
  held = false;
  billcore_client_free(client);
}

void throwing_done(void* /*context*/, billcore_ticket /*ticket*/, billcore_result* result, billcore_error* failure) {
  billcore_result_free(result);
  billcore_error_free(failure);
  throw std::runtime_error("from a done");
}

// A `done` that throws changes nothing for the other calls of the loop.
void test_loop(const server* at) {
  billcore_client* client = client_of(at);
  billcore_loop* loop = nullptr;
  billcore_operation* get = nullptr;
  CHECK_OK(billcore_loop_new(client, &loop, &err));
  CHECK_OK(billcore_operation_new(BILLCORE_STR("orders.get"), &get, &err));
  CHECK_OK(billcore_operation_set_text(get, BILLCORE_STR("id"), BILLCORE_STR("o"), &err));
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(billcore_loop_start(loop, get, nullptr, &throwing_done, nullptr, &throwing_release, nullptr, &err));
  }
  while (billcore_loop_running(loop) > 0) {
    pollfd ready{billcore_loop_descriptor(loop), POLLIN, 0};
    CHECK(poll(&ready, 1, -1) == 1);
    CHECK_OK(billcore_loop_process(loop, nullptr, &err));
  }
  billcore_operation_free(get);
  billcore_loop_free(loop);
  billcore_client_free(client);
}

}  // namespace

int main() {
  server* at = server_start(answer);
  test_hook(at);
  test_loop(at);
  test_interrupt(at, &throwing_interrupt);
  test_interrupt(at, &odd_interrupt);
  server_stop(at);
  return 0;
}
