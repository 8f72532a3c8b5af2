/* Tests many reads at once: the order of their results, errors beside their numbers, and what is refused. */
#include "support/client.h"
#include "support/loop.h"

static billcore_many* new_many(const billcore_client* client, int32_t at_once, bool ordered,
                               const billcore_call_options* call) {
  billcore_many* out = NULL;
  CHECK_OK(billcore_many_new(client, at_once, ordered, call, &out, &err));
  return out;
}

static void add(billcore_many* many, const char* id, uint64_t number) {
  billcore_operation* get = make_get(id);
  CHECK(billcore_many_wants(many));
  CHECK_OK(billcore_many_add(many, get, number, &err));
  billcore_operation_free(get);
}

/* Takes the next result: an order, or with `status` its failure. */
static void expect_result(billcore_many* many, uint64_t expected, billcore_status status) {
  uint64_t number = 0;
  billcore_result* result = NULL;
  billcore_error* failure = NULL;
  billcore_order* order = NULL;
  CHECK_OK(billcore_many_next(many, &number, &result, &failure, &err));
  CHECK(number == expected && (result == NULL) == (failure != NULL));
  CHECK(billcore_error_status(failure) == status);
  billcore_error_free(failure);
  if (result == NULL) return;
  CHECK_OK(billcore_result_take_order(&result, &order, &err));
  expect_id(order, "o");
}

static void expect_nothing(billcore_many* many) {
  uint64_t number = 1;
  billcore_result* result = NULL;
  billcore_error* failure = NULL;
  CHECK_OK(billcore_many_next(many, &number, &result, &failure, &err));
  CHECK(number == 0 && result == NULL && failure == NULL);
}

static void test_results(const billcore_client* client) {
  billcore_many* many = new_many(client, 2, true, NULL);
  expect_nothing(many);
  add(many, "a", 7);
  add(many, "none", 5);
  CHECK(!billcore_many_wants(many));
  expect_result(many, 7, BILLCORE_OK);
  add(many, "b", 9);
  expect_result(many, 5, BILLCORE_ERROR_NOT_FOUND);
  expect_result(many, 9, BILLCORE_OK);
  expect_nothing(many);
  add(many, "c", 1); /* after the end there may be more */
  expect_result(many, 1, BILLCORE_OK);
  billcore_many_free(many);
}

static void test_as_they_arrive(const billcore_client* client) {
  billcore_many* many = new_many(client, 3, false, NULL);
  add(many, "held", 1);
  add(many, "a", 2);
  expect_result(many, 2, BILLCORE_OK);
  billcore_many_free(many); /* gives up the first */
}

static void test_refused(const billcore_client* client) {
  billcore_many* many = NULL;
  uint64_t number = 0;
  billcore_result* result = NULL;
  billcore_error* failure = NULL;
  billcore_call_options* soon = new_call_options();
  CHECK_INVALID(billcore_many_new(client, 0, true, NULL, &many, &err), "concurrency must be at least 1");
  many = new_many(client, 1, true, NULL);
  billcore_operation* write = make("subscriptions.cancel", "s");
  CHECK_INVALID(billcore_many_add(many, write, 0, &err), "reads of one record");
  CHECK_OK(billcore_client_perform(client, write, NULL, &result, &err)); /* it was not used up */
  billcore_result_free(result);
  billcore_operation_free(write);
  add(many, "a", 1);
  billcore_operation* get = make_get("b");
  CHECK_INVALID(billcore_many_add(many, get, 2, &err), "take a result first");
  billcore_many_free(many);

  CHECK_OK(billcore_call_options_set_total_timeout_ms(soon, 50, &err));
  many = new_many(client, 2, true, soon);
  add(many, "held", 1);
  CHECK(billcore_many_next(many, &number, &result, &failure, &err) == BILLCORE_ERROR_TIMEOUT);
  CHECK(strstr(billcore_error_message(err).data, "total_timeout has passed") != NULL);
  billcore_error_free(err);
  CHECK(billcore_many_add(many, get, 2, &err) == BILLCORE_ERROR_TIMEOUT);
  billcore_error_free(err);
  billcore_many_free(many);
  billcore_operation_free(get);
  billcore_call_options_free(soon);
  billcore_many_free(NULL);
  CHECK(!billcore_many_wants(NULL));
}

static void start_wait(billcore_loop* loop, billcore_many* many, noted* context) {
  CHECK_OK(billcore_loop_many_wait(loop, many, note_end, context, note_release, &context->ticket, &err));
}

/* On a loop: waits for each result; the reads progress while nothing waits for them. */
static void test_on_a_loop(const billcore_client* client) {
  billcore_loop* loop = new_loop(client);
  noted wait = {0};
  billcore_many* many = NULL;
  billcore_many* blocking = new_many(client, 2, true, NULL);
  uint64_t number = 0;
  billcore_result* result = NULL;
  billcore_error* failure = NULL;
  CHECK_INVALID(billcore_loop_many_new(loop, 0, true, NULL, &many, &err), "concurrency must be at least 1");
  CHECK_OK(billcore_loop_many_new(loop, 2, true, NULL, &many, &err));
  CHECK_INVALID(billcore_loop_many_wait(loop, blocking, note_end, &wait, NULL, NULL, &err), "on this loop");
  start_wait(loop, many, &wait); /* for nothing */
  expect_end(loop, &wait, BILLCORE_OK);
  expect_nothing(many);
  add(many, "a", 7);
  add(many, "none", 5);
  CHECK(!billcore_many_wants(many));
  CHECK(billcore_many_next(many, &number, &result, &failure, &err) == BILLCORE_DONE);
  start_wait(loop, many, &wait);
  CHECK_INVALID(billcore_loop_many_wait(loop, many, note_end, &wait, NULL, NULL, &err), "one at a time");
  expect_end(loop, &wait, BILLCORE_OK);
  expect_result(many, 7, BILLCORE_OK);
  start_wait(loop, many, &wait);
  expect_end(loop, &wait, BILLCORE_OK);
  expect_result(many, 5, BILLCORE_ERROR_NOT_FOUND);
  add(many, "held", 1);
  start_wait(loop, many, &wait);
  CHECK_OK(billcore_loop_cancel(loop, wait.ticket, &err));
  expect_end(loop, &wait, BILLCORE_ERROR_INTERRUPTED);
  CHECK(billcore_many_next(many, &number, &result, &failure, &err) == BILLCORE_DONE); /* still in flight */
  start_wait(loop, many, &wait);
  billcore_loop_free(loop); /* the wait has no end */
  CHECK(wait.ends == 0 && wait.releases == 1 && !billcore_many_wants(many));
  CHECK_INVALID(billcore_many_next(many, &number, &result, &failure, &err), "the loop of the reads was freed");
  billcore_many_free(many);
  billcore_many_free(blocking);
}

/* A list has the same option. */
static void test_a_list(const billcore_client* client) {
  billcore_call_options* soon = new_call_options();
  billcore_order_list* list = NULL;
  billcore_order* order = NULL;
  CHECK_OK(billcore_call_options_set_total_timeout_ms(soon, 50, &err));
  CHECK_OK(billcore_subscription_orders_new(client, BILLCORE_STR("held"), NULL, soon, &list, &err));
  CHECK(billcore_order_list_next(list, &order, &err) == BILLCORE_ERROR_TIMEOUT);
  billcore_error_free(err);
  billcore_order_list_free(list);
  billcore_call_options_free(soon);
}

int main(void) {
  server* at = server_start(usual_answer);
  billcore_client* client = client_of(at);
  test_results(client);
  test_as_they_arrive(client);
  test_refused(client);
  test_on_a_loop(client);
  test_a_list(client);
  billcore_client_free(client);
  server_stop(at);
  return 0;
}
