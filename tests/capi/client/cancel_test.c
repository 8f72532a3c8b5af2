/* Cancel tokens that are triggered before, during and after a call, twice, and by several threads. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "support/client.h"

static billcore_error* err;
static _Atomic int requests; /* number of requests that the server has seen */

static const char* answer(const char* request) {
  ++requests;
  if (strstr(request, "/order/held") != NULL || strstr(request, "POST ") != NULL) return NULL;
  if (strstr(request, "/order/busy") != NULL) return "HTTP/1.1 503 X\r\nRetry-After: 50" HEAD "{}";
  if (strstr(request, "page=2") != NULL) return NULL;
  if (strstr(request, "/subscription/") != NULL) {
    return "HTTP/1.1 200 OK" HEAD "{\"data\":[" ORDER("a") "," ORDER("b") "],\"pagination\":{\"total\":4,\"count\":2,"
           "\"per_page\":2,\"current_page\":1,\"total_pages\":2,\"links\":{}}}";
  }
  return "HTTP/1.1 200 OK" HEAD "{\"data\":" ORDER("o") "}";
}

static billcore_cancel* new_token(void) {
  billcore_cancel* out = NULL;
  CHECK_OK(billcore_cancel_new(&out, &err));
  CHECK(!billcore_cancel_is_triggered(out));
  return out;
}

static billcore_call_options* options_with(const billcore_cancel* token) {
  billcore_call_options* out = NULL;
  CHECK_OK(billcore_call_options_new(&out, &err));
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
  billcore_order* order = NULL;
  trigger it;
  start(&it, token, requests + 1);
  CHECK(billcore_order_get(client, billcore_str_from(id), options, &order, &err) == BILLCORE_ERROR_INTERRUPTED);
  CHECK(order == NULL && !billcore_error_outcome_unknown(err) && strstr(billcore_error_message(err).data, id) != NULL);
  billcore_error_free(err);
  err = NULL;
  CHECK(pthread_join(it.thread, NULL) == 0 && billcore_cancel_is_triggered(token));

  /* A later call with the triggered token sends nothing; a call without a token succeeds. */
  const int before = requests;
  CHECK_FAILS(billcore_order_get(client, BILLCORE_STR("o"), options, &order, &err), BILLCORE_ERROR_INTERRUPTED,
              "interrupted");
  billcore_cancel_trigger(token);
  CHECK_FAILS(billcore_order_get(client, BILLCORE_STR("o"), options, &order, &err), BILLCORE_ERROR_INTERRUPTED,
              "interrupted");
  CHECK(requests == before);
  billcore_cancel_free(token); /* the options keep the token, so calls with these options stay cancelled */
  CHECK_FAILS(billcore_order_get(client, BILLCORE_STR("o"), options, &order, &err), BILLCORE_ERROR_INTERRUPTED,
              "interrupted");
  CHECK_OK(billcore_call_options_set_cancel(options, NULL, &err));
  CHECK_OK(billcore_order_get(client, BILLCORE_STR("o"), options, &order, &err));
  billcore_order_free(order);
  billcore_call_options_free(options);
}

static void test_a_write(const billcore_client* client) {
  billcore_cancel* token = new_token();
  billcore_call_options* options = options_with(token);
  billcore_order* order = NULL;
  int64_t at = 0;
  trigger it;
  start(&it, token, requests + 1);
  CHECK(billcore_subscription_charge(client, BILLCORE_STR("s"), 1, 500, NULL, options, &order, &err) ==
        BILLCORE_ERROR_INTERRUPTED);
  CHECK(billcore_error_outcome_unknown(err) && billcore_error_attempted_at(err, &at) && at > 0);
  CHECK(billcore_error_http_status(err) == 0);
  CHECK(strstr(billcore_error_message(err).data, "after it was sent; it may or may not have happened") != NULL);
  billcore_error_free(err);
  err = NULL;
  CHECK(pthread_join(it.thread, NULL) == 0);

  const int before = requests; /* a call with a token that is already triggered sends nothing */
  CHECK(billcore_subscription_charge(client, BILLCORE_STR("s"), 1, 500, NULL, options, &order, &err) ==
        BILLCORE_ERROR_INTERRUPTED);
  CHECK(!billcore_error_outcome_unknown(err) && !billcore_error_attempted_at(err, NULL) && requests == before);
  billcore_error_free(err);
  err = NULL;
  billcore_call_options_free(options);
  billcore_cancel_free(token);
}

/* With a token that is not triggered, a call returns as usual; a later trigger changes nothing. */
static void test_triggered_after(const billcore_client* client) {
  billcore_cancel* token = new_token();
  billcore_call_options* options = options_with(token);
  billcore_order* order = NULL;
  billcore_str id;
  CHECK_OK(billcore_order_get(client, BILLCORE_STR("o"), options, &order, &err));
  billcore_cancel_trigger(token);
  billcore_cancel_free(token);
  CHECK_OK(billcore_order_id(order, &id, NULL, &err));
  CHECK(is_text(id, "o"));
  billcore_order_free(order);
  billcore_call_options_free(options);
}

static void test_a_list(const billcore_client* client) {
  billcore_cancel* token = new_token();
  billcore_call_options* options = options_with(token);
  billcore_order_list* list = NULL;
  billcore_order* order = NULL;
  trigger it;
  CHECK_OK(billcore_subscription_orders_new(client, BILLCORE_STR("s"), NULL, options, &list, &err));
  billcore_call_options_free(options);
  for (int i = 0; i < 2; ++i) {
    CHECK_OK(billcore_order_list_next(list, &order, &err));
    billcore_order_free(order);
  }
  start(&it, token, 0);
  CHECK_FAILS(billcore_order_list_next(list, &order, &err), BILLCORE_ERROR_INTERRUPTED, "page=2");
  CHECK(pthread_join(it.thread, NULL) == 0);
  CHECK_FAILS(billcore_order_list_next(list, &order, &err), BILLCORE_ERROR_INTERRUPTED, "page=2");
  billcore_order_list_free(list);
  billcore_cancel_free(token);
}

static const billcore_client* shared_client;

static void* call_held(void* options) {
  billcore_order* order = NULL;
  CHECK(billcore_order_get(shared_client, BILLCORE_STR("held"), options, &order, NULL) == BILLCORE_ERROR_INTERRUPTED);
  return NULL;
}

/* Several calls use one token, and two threads trigger it: all calls end. */
static void test_several_calls(const billcore_client* client) {
  enum { threads = 3 };
  pthread_t calls[threads];
  billcore_cancel* token = new_token();
  billcore_call_options* options = options_with(token);
  trigger it[2];
  start(&it[0], token, requests + threads);
  start(&it[1], token, requests + threads);
  shared_client = client;
  for (int i = 0; i < threads; ++i) CHECK(pthread_create(&calls[i], NULL, call_held, options) == 0);
  for (int i = 0; i < threads; ++i) CHECK(pthread_join(calls[i], NULL) == 0);
  for (int i = 0; i < 2; ++i) CHECK(pthread_join(it[i].thread, NULL) == 0);
  billcore_call_options_free(options);
  billcore_cancel_free(token);
}

/* Triggers a token at any moment of a call: the call either succeeds or is interrupted. */
static void test_any_moment(const billcore_client* client) {
  int done = 0;
  for (int i = 0; i < 100; ++i) {
    billcore_cancel* token = new_token();
    billcore_call_options* options = options_with(token);
    billcore_order* order = NULL;
    trigger it;
    start(&it, token, requests + i % 2); /* trigger the token at once, or when the request has arrived */
    const billcore_status status = billcore_order_get(client, BILLCORE_STR("o"), options, &order, NULL);
    CHECK(status == BILLCORE_OK || status == BILLCORE_ERROR_INTERRUPTED);
    CHECK((status == BILLCORE_OK) == (order != NULL));
    done += status == BILLCORE_OK;
    requests += 1; /* ends a thread that waits for a request which the cancelled call never sent */
    CHECK(pthread_join(it.thread, NULL) == 0);
    billcore_order_free(order);
    billcore_call_options_free(options);
    billcore_cancel_free(token);
  }
  printf("%d of 100 calls were faster than their token\n", done);
}

int main(void) {
  server* at = server_start(answer);
  billcore_client* client = client_of(at, "key", NULL, NULL);
  billcore_cancel_trigger(NULL);
  billcore_cancel_free(NULL);
  CHECK(!billcore_cancel_is_triggered(NULL));
  test_triggered_after(client);
  test_a_waiting_call(client, "held");
  test_a_waiting_call(client, "busy"); /* cancels a call that waits for its next attempt */
  test_a_write(client);
  test_a_list(client);
  test_several_calls(client);
  test_any_moment(client);
  billcore_client_free(client);
  server_stop(at);
  return 0;
}
