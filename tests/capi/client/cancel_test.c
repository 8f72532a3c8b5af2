/* Tests cancel tokens: their lifetime, threads that trigger them, and what a cancelled call returns. The
 * C++ tests cancel at any moment. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <sched.h>

#include "support/client.h"

static billcore_cancel* new_token(void) {
  billcore_cancel* out = NULL;
  CHECK_OK(billcore_cancel_new(&out, &err));
  CHECK(!billcore_cancel_is_triggered(out));
  return out;
}

static billcore_call_options* options_with(const billcore_cancel* token) {
  billcore_call_options* out = new_call_options();
  CHECK_OK(billcore_call_options_set_no_timeout(out, &err));
  CHECK_OK(billcore_call_options_set_cancel(out, token, &err));
  return out;
}

/* Triggers a token once the server has seen `after` requests. */
typedef struct {
  billcore_cancel* token;
  int after;
  pthread_t thread;
} trigger;

static void* run_trigger(void* given) {
  const trigger* self = given;
  while (requests < self->after) sched_yield();
  billcore_cancel_trigger(self->token);
  return NULL;
}

static void start(trigger* self, billcore_cancel* token, int after) {
  *self = (trigger){.token = token, .after = after};
  CHECK(pthread_create(&self->thread, NULL, run_trigger, self) == 0);
}

static void test_a_waiting_call(const billcore_client* client, const char* id) {
  billcore_cancel* token = new_token();
  billcore_call_options* options = options_with(token);
  trigger it;
  CHECK_OK(get(client, "o", options));
  start(&it, token, requests + 1);
  CHECK_FAILS(get(client, id, options), BILLCORE_ERROR_INTERRUPTED, id);
  CHECK(pthread_join(it.thread, NULL) == 0 && billcore_cancel_is_triggered(token));

  /* A later call with the triggered token sends nothing; a call without a token succeeds. */
  const int before = requests;
  billcore_cancel_trigger(token);
  CHECK_FAILS(get(client, "o", options), BILLCORE_ERROR_INTERRUPTED, "interrupted");
  billcore_cancel_free(token); /* the options keep the token, so calls with these options stay cancelled */
  CHECK_FAILS(get(client, "o", options), BILLCORE_ERROR_INTERRUPTED, "interrupted");
  CHECK(requests == before);
  CHECK_OK(billcore_call_options_set_cancel(options, NULL, &err));
  CHECK_OK(get(client, "o", options));
  billcore_call_options_free(options);
}

static void test_a_write(const billcore_client* client) {
  billcore_cancel* token = new_token();
  billcore_call_options* options = options_with(token);
  trigger it;
  start(&it, token, requests + 1);
  CHECK(charge(client, "held", options) == BILLCORE_ERROR_INTERRUPTED);
  CHECK(billcore_error_outcome_unknown(err) && billcore_error_attempted_at(err, NULL));
  CHECK(strstr(billcore_error_message(err).data, "after it was sent; it may or may not have happened") != NULL);
  billcore_error_free(err);
  CHECK(pthread_join(it.thread, NULL) == 0);

  const int before = requests; /* a call with a token that is already triggered sends nothing */
  CHECK(charge(client, "held", options) == BILLCORE_ERROR_INTERRUPTED);
  CHECK(!billcore_error_outcome_unknown(err) && !billcore_error_attempted_at(err, NULL) && requests == before);
  billcore_error_free(err);
  err = NULL;
  billcore_call_options_free(options);
  billcore_cancel_free(token);
}

static void test_a_list(const billcore_client* client) {
  billcore_cancel* token = new_token();
  billcore_call_options* options = options_with(token);
  billcore_order* order = NULL;
  billcore_order_list* list = orders_of(client, "s", options);
  billcore_call_options_free(options);
  expect_next(list, "a");
  billcore_cancel_trigger(token);
  billcore_cancel_free(token);
  expect_next(list, "b");
  for (int again = 0; again < 2; ++again) {
    CHECK_FAILS(billcore_order_list_next(list, &order, &err), BILLCORE_ERROR_INTERRUPTED, "page=2");
  }
  billcore_order_list_free(list);
}

int main(void) {
  server* at = server_start(usual_answer);
  billcore_client* client = client_of(at);
  billcore_cancel_trigger(NULL);
  billcore_cancel_free(NULL);
  CHECK(!billcore_cancel_is_triggered(NULL));
  test_a_waiting_call(client, "held");
  test_a_waiting_call(client, "busy"); /* cancels a call that waits for its next attempt */
  test_a_write(client);
  test_a_list(client);
  billcore_client_free(client);
  server_stop(at);
  return 0;
}
