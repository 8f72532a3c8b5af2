/* Tests the calls, searches and lists of a loop: their ends, how they are cancelled, and their time-outs. */
#define _GNU_SOURCE

#include "support/loop.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

static const billcore_status interrupted = BILLCORE_ERROR_INTERRUPTED;
static atomic_bool fails_pages;

static const char* answer(const char* request) {
  if (fails_pages && strstr(request, "page=2") != NULL) return "HTTP/1.1 404 X" HEAD "{}";
  if (strstr(request, "/s/orders?page=1&per_page=200") == NULL) return usual_answer(request);
  return ONE_PAGE("{\"id\":\"o\",\"total\":1500,\"state\":\"paid\",\"created_at\":\"2999-01-01T00:00:00Z\"}");
}

/* ---- ends ---- */

/* A client made by billcore_client_with_options: calls have its options, the connection stays. */
static void test_use_client(const server* at, const billcore_client* client) {
  billcore_loop* loop = new_loop(client);
  billcore_client* other = client_of(at);
  billcore_client* derived = NULL;
  billcore_client_changes* changes = NULL;
  billcore_operation* held = make_get("held");
  noted got = {0};
  CHECK_OK(billcore_client_changes_new(&changes, &err));
  CHECK_OK(billcore_client_changes_set_timeout_ms(changes, 100, &err));
  CHECK_OK(billcore_client_with_options(client, changes, &derived, &err));
  CHECK_FAILS(billcore_loop_use_client(loop, other, &err), BILLCORE_ERROR_INVALID_ARGUMENT, "connections");
  CHECK_OK(billcore_loop_use_client(loop, derived, &err));
  start(loop, held, &got);
  expect_end(loop, &got, BILLCORE_ERROR_TIMEOUT);
  CHECK_OK(billcore_client_close(derived, &err));
  CHECK_FAILS(billcore_loop_start(loop, held, NULL, NULL, NULL, NULL, NULL, &err), BILLCORE_ERROR_CONFIG, "closed");
  CHECK_OK(billcore_loop_use_client(loop, client, &err));
  start_and_free(loop, make_get("o"), &got);
  expect_order(loop, &got);
  billcore_operation_free(held);
  billcore_loop_free(loop);
  billcore_client_changes_free(changes);
  billcore_client_free(derived);
  billcore_client_free(other);
}

static void test_callbacks(const billcore_client* client) {
  billcore_loop* loop = new_loop(client);
  noted got = {0};
  noted charged = {0};
  noted missing = {0};
  noted deleted = {0};
  noted asked = {0};
  billcore_response* response = NULL;
  int32_t code = 0;
  billcore_operation* get = make_get("o");
  billcore_operation* delete = make("products.delete", NULL);
  billcore_operation* request = make("request", NULL);
  CHECK_OK(billcore_operation_set_int64(delete, BILLCORE_STR("id"), 7, &err));
  CHECK_OK(billcore_operation_set_text(request, BILLCORE_STR("method"), BILLCORE_STR("GET"), &err));
  CHECK_OK(billcore_operation_set_text(request, BILLCORE_STR("path"), BILLCORE_STR("/order/none"), &err));
  CHECK_OK(billcore_operation_set_bool(request, BILLCORE_STR("raise_on_error"), false, &err));
  start(loop, get, &got);
  start_and_free(loop, make_charge("s"), &charged);
  start_and_free(loop, make_get("none"), &missing);
  start_and_free(loop, delete, &deleted);
  start_and_free(loop, request, &asked);
  CHECK(billcore_loop_running(loop) == 5);
  while (billcore_loop_running(loop) > 0) turn(loop, -1);
  expect_order(loop, &got);
  expect_order(loop, &charged);
  expect_end(loop, &missing, BILLCORE_ERROR_NOT_FOUND);
  CHECK(deleted.result == NULL);
  expect_end(loop, &deleted, BILLCORE_OK);
  CHECK_OK(billcore_result_take_response(&asked.result, &response, &err));
  CHECK_OK(billcore_response_status(response, &code, &err));
  CHECK(code == 404);
  billcore_response_free(response);
  start(loop, get, &got); /* a read can be used again */
  expect_order(loop, &got);
  billcore_operation_free(get);
  billcore_loop_free(loop);
}

static void test_asking(const billcore_client* client) {
  billcore_loop* loop = new_loop(client);
  billcore_operation* get = make_get("o");
  billcore_operation* none = make_get("none");
  billcore_ticket tickets[2];
  billcore_ticket ticket = 7;
  billcore_result* result = NULL;
  billcore_error* failure = NULL;
  noted released = {0};
  int ends = 0;
  CHECK_OK(billcore_loop_start(loop, get, NULL, NULL, &released, note_release, &tickets[0], &err));
  CHECK_OK(billcore_loop_start(loop, none, NULL, NULL, NULL, NULL, &tickets[1], &err));
  CHECK(billcore_loop_next(loop, &ticket, &result, &failure, &err) == BILLCORE_DONE && ticket == 0);
  while (ends < 2) {
    turn(loop, -1);
    CHECK(released.releases == (ends > 0));
    while (billcore_loop_next(loop, &ticket, &result, &failure, &err) == BILLCORE_OK) {
      ++ends;
      const bool is_get = ticket == tickets[0];
      CHECK(is_get || ticket == tickets[1]);
      CHECK(is_get == (failure == NULL) && is_get == (billcore_result_kind_of(result) == BILLCORE_RESULT_ORDER));
      if (is_get) CHECK(released.releases == 1);
      billcore_result_free(result);
      billcore_error_free(failure);
      if (is_get) break; /* the other end waits */
    }
  }
  CHECK(billcore_loop_running(loop) == 0);
  CHECK_OK(billcore_loop_start(loop, get, NULL, NULL, NULL, NULL, NULL, &err));
  billcore_operation_free(get);
  billcore_operation_free(none);
  billcore_loop_free(loop); /* with a call that nobody asked about */
}

static void test_refused(const billcore_client* client) {
  billcore_loop* loop = new_loop(client);
  noted context = {0};
  noted refused = {0};
  billcore_call_options* options = new_call_options();
  billcore_cancel* token = NULL;
  billcore_operation* charge = make_charge("s");
  billcore_operation* listing = make("subscriptions.list", NULL);
  billcore_operation* unset = make_get(NULL);
  billcore_ticket ticket = 7;
  CHECK_OK(billcore_cancel_new(&token, &err));
  CHECK_OK(billcore_call_options_set_cancel(options, token, &err));
#define CHECK_START(loop, operation, options, words) \
  CHECK_INVALID(billcore_loop_start(loop, operation, options, note_end, &refused, note_release, &ticket, &err), words)
  CHECK_START(loop, charge, options, "no cancel token");
  CHECK_START(loop, listing, NULL, "is a list");
  CHECK_START(loop, unset, NULL, "id");
  CHECK_START(NULL, charge, NULL, "NULL");
  CHECK(ticket == 0 && refused.releases == 4 && billcore_loop_running(loop) == 0);
  const int before = requests;
  start(loop, charge, &context); /* what was refused has not used the charge up */
  CHECK_START(loop, charge, NULL, "was used");
#undef CHECK_START
  expect_order(loop, &context);
  CHECK_INVALID(billcore_client_perform(client, charge, NULL, &(billcore_result*){NULL}, &err), "was used");
  CHECK(requests == before + 1);
  billcore_operation_free(charge);
  billcore_operation_free(listing);
  billcore_operation_free(unset);
  billcore_call_options_free(options);
  billcore_cancel_free(token);
  billcore_loop_free(loop);
}

/* ---- cancelling ---- */

static billcore_loop* shared; /* the loop of the call that the functions below cancel */

static void* cancel(void* context) {
  CHECK(billcore_loop_cancel(shared, ((const noted*)context)->ticket, NULL) == BILLCORE_OK);
  return NULL;
}

static void cancel_in_thread(noted* context) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, cancel, context) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
}

static void test_cancel(const billcore_client* client) {
  billcore_loop* loop = shared = new_loop(client);
  noted unsent = {0};
  noted held = {0};
  noted charge = {0};
  noted found = {0};
  const int before = requests;
  start_and_free(loop, make_charge("s"), &unsent);
  for (int again = 0; again < 2; ++again) CHECK_OK(billcore_loop_cancel(loop, unsent.ticket, &err));
  CHECK(unsent.ends == 0);
  drive_until(loop, &unsent.ends, 1);
  CHECK(!billcore_error_outcome_unknown(unsent.failure) && requests == before);
  expect_end(loop, &unsent, interrupted);

  start_and_free(loop, make_get("held"), &held);
  start_and_free(loop, make_charge("held"), &charge);
  drive_until_sent(loop, before + 2);
  cancel_in_thread(&held);
  drive_until(loop, &held.ends, 1);
  CHECK(!billcore_error_outcome_unknown(held.failure));
  CHECK(strstr(billcore_error_message(held.failure).data, "GET /order/held") != NULL);
  expect_end(loop, &held, interrupted);
  const billcore_ticket ticket = charge.ticket;
  CHECK_OK(billcore_loop_cancel(loop, ticket, &err));
  drive_until(loop, &charge.ends, 1);
  CHECK(charge.status == interrupted && billcore_error_outcome_unknown(charge.failure));
  CHECK_OK(billcore_loop_cancel(loop, ticket, &err)); /* it has ended */
  CHECK_OK(billcore_loop_cancel(loop, 0, &err));
  CHECK(process(loop, NULL) == BILLCORE_OK && charge.ends == 1 && billcore_loop_running(loop) == 0);

  /* The error of the cancelled charge leads to its order, as the error of a blocking call does. */
  for (int i = 0; i < 2; ++i) {
    noted* each = i == 0 ? &found : &held;
    CHECK_OK(billcore_loop_find_charges(loop, charge.failure, NULL, NULL, note_end, each, note_release, &each->ticket,
                                        &err));
  }
  CHECK_OK(billcore_loop_cancel(loop, held.ticket, &err));
  expect_end(loop, &held, interrupted);
  billcore_loop_free(loop);
  CHECK(found.ends == 0 && found.releases == 1); /* the search waited for the list of the subscription "held" */
  forget(&charge);
}

static void (*before_wait)(void); /* what the next epoll_wait() does first, in the library too */
static noted held_meanwhile;

__attribute__((visibility("default"))) int epoll_wait(int set, struct epoll_event* events, int room, int milliseconds) {
  void (*const first)(void) = before_wait;
  before_wait = NULL;
  if (first != NULL) first();
  return epoll_pwait(set, events, room, milliseconds, NULL);
}

static void cancel_at_once(void) { cancel_in_thread(&held_meanwhile); }

/* A thread cancels a call after billcore_loop_process has looked for such calls, and before it reads its wake-ups. */
static void test_cancel_meanwhile(const billcore_client* client) {
  shared = new_loop(client);
  const int before = requests;
  start_and_free(shared, make_get("held"), &held_meanwhile);
  drive_until_sent(shared, before + 1);
  before_wait = cancel_at_once;
  CHECK(process(shared, NULL) == BILLCORE_OK && before_wait == NULL && held_meanwhile.ends == 0);
  struct pollfd descriptor = {billcore_loop_descriptor(shared), POLLIN, 0};
  CHECK(poll(&descriptor, 1, 0) == 1);
  expect_end(shared, &held_meanwhile, interrupted);
  billcore_loop_free(shared);
}

static void search_since(billcore_loop* loop, const char* id, noted* context) {
  CHECK_OK(billcore_loop_find_charges_since(loop, billcore_str_from(id), 0, NULL, NULL, note_end, context, note_release,
                                            NULL, &err));
}

static void test_searches(const billcore_client* client) {
  billcore_loop* loop = new_loop(client);
  noted search = {0};
  billcore_order_page* page = NULL;
  billcore_resource* resource = NULL;
  size_t count = 0;
  search_since(loop, "s", &search);
  drive_until(loop, &search.ends, 1);
  CHECK(billcore_result_kind_of(search.result) == BILLCORE_RESULT_PAGE);
  CHECK_INVALID(billcore_result_take_resource(&search.result, BILLCORE_RESULT_PAGE, &resource, &err), "kind");
  CHECK_OK(billcore_result_take_orders(&search.result, &page, &err));
  CHECK_OK(billcore_order_page_count(page, &count, &err));
  CHECK(count == 1);
  billcore_order_page_free(page);
  expect_end(loop, &search, BILLCORE_OK);
  search_since(loop, "s", &search);
  expect_end(loop, &search, BILLCORE_OK); /* frees a page that nobody took */
  search_since(loop, "none", &search);
  expect_end(loop, &search, BILLCORE_ERROR_NOT_FOUND);
  CHECK_INVALID(billcore_loop_find_charges(loop, NULL, NULL, NULL, note_end, &search, note_release, NULL, &err),
                "the error of the charge is missing");
  CHECK(search.releases == 1 && billcore_loop_running(loop) == 0);
  billcore_loop_free(loop);
}

/* ---- time ---- */

/* While nobody drives the loop, the time-outs pass; then the calls end, and nothing is sent late. */
static void test_undriven(const billcore_client* client) {
  billcore_loop* loop = new_loop(client);
  billcore_call_options* options = new_call_options();
  billcore_operation* charge = make_charge("s");
  billcore_operation* held = make_get("held");
  noted late = {0};
  struct timespec when;
  const int before = requests;
  CHECK_OK(billcore_call_options_set_timeout_ms(options, 20, &err));
  start_with(loop, charge, options, &late);
  CHECK(clock_gettime(CLOCK_MONOTONIC, &when) == 0);
  when.tv_sec += 1;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) != 0) continue;
  drive_until(loop, &late.ends, 1);
  CHECK(!billcore_error_outcome_unknown(late.failure) && requests == before);
  expect_end(loop, &late, BILLCORE_ERROR_TIMEOUT);
  /* The descriptor covers the deadline of a call that nobody answers. */
  start_with(loop, held, options, &late);
  expect_end(loop, &late, BILLCORE_ERROR_TIMEOUT);
  billcore_operation_free(charge);
  billcore_operation_free(held);
  billcore_call_options_free(options);
  billcore_loop_free(loop);
}

/* An edge-triggered poller misses nothing if it goes on until `more` is false. */
static void test_edges(const billcore_client* client) {
  enum { calls = 300 };
  billcore_loop* loop = new_loop(client);
  billcore_operation* get = make_get("o");
  noted context = {0};
  const int edges = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN | EPOLLET};
  int turns = 0;
  CHECK(edges >= 0 && epoll_ctl(edges, EPOLL_CTL_ADD, billcore_loop_descriptor(loop), &event) == 0);
  for (int i = 0; i < calls; ++i) CHECK_OK(billcore_loop_start(loop, get, NULL, note_end, &context, NULL, NULL, &err));
  while (context.ends < calls) {
    CHECK(epoll_wait(edges, &event, 1, -1) == 1);
    for (bool more = true; more; ++turns) CHECK(process(loop, &more) == BILLCORE_OK);
  }
  CHECK(turns > 1 && context.status == BILLCORE_OK);
  forget(&context);
  close(edges);
  billcore_operation_free(get);
  billcore_loop_free(loop);
}

/* ---- lists ---- */

/* Fetches a page, or finds that the list has unread items or has ended. */
static void fetch_now(billcore_loop* loop, billcore_order_list* list) {
  noted context = {0};
  fetch(loop, list, &context);
  drive_until(loop, &context.ends, 1);
  CHECK(context.result == NULL);
  expect_end(loop, &context, BILLCORE_OK);
}

#define CHECK_FETCH(loop, list, words) \
  CHECK_INVALID(billcore_loop_fetch(loop, (billcore_list*)(void*)list, note_end, NULL, NULL, NULL, &err), words)

static void test_lists(const server* at, const billcore_client* client) {
  billcore_client* stranger = client_of(at);
  billcore_loop* loop = new_loop(client);
  billcore_loop* second = new_loop(client);
  billcore_order_list* list = orders_of(client, "s", NULL);
  billcore_order_list* foreign = orders_of(stranger, "s", NULL);
  billcore_order* order = NULL;
  billcore_order_page* page = NULL;
  noted context = {0};
  bool complete = false;
  bool present = false;
  fetch_now(loop, list);
  CHECK_FETCH(second, list, "another loop");
  CHECK_FETCH(loop, foreign, "different clients");
  fetch_now(loop, list); /* unread items: nothing to fetch */
  expect_next(list, "a");
  CHECK_OK(billcore_order_list_next_page(list, &page, &err));
  billcore_order_page_free(page);
  CHECK_INVALID(billcore_order_list_next(list, &order, &err), "fetch the page on the loop");
  CHECK_INVALID(billcore_order_list_next_page(list, &page, &err), "fetch the page on the loop");

  fails_pages = true;
  fetch(loop, list, &context);
  drive_until(loop, &context.ends, 1);
  CHECK(strstr(billcore_error_message(context.failure).data, "page=2"));
  expect_end(loop, &context, BILLCORE_ERROR_NOT_FOUND);
  fails_pages = false;
  fetch(loop, list, &context);
  CHECK_FETCH(loop, list, "one at a time");
  expect_end(loop, &context, BILLCORE_OK);
  expect_next(list, "c");
  expect_next(list, "d");
  fetch_now(loop, list); /* finds the end of the list */
  CHECK(billcore_order_list_next(list, &order, &err) == BILLCORE_DONE);
  CHECK_OK(billcore_order_list_verdict(list, &complete, NULL, &present, &err));
  CHECK(present && complete);
  billcore_order_list_free(list);

  /* A list that is stopped cancels its prefetch, and can be read further. */
  const int unread = requests;
  list = orders_of(client, "s", NULL);
  fetch_now(loop, list);
  expect_next(list, "a");
  expect_next(list, "b"); /* begins the prefetch */
  drive_until_sent(loop, unread + 2);
  CHECK_OK(billcore_order_list_stop(list, &err));
  fetch_now(loop, list);
  CHECK(requests == unread + 3);
  expect_next(list, "c");
  billcore_order_list_free(list);

  /* A list that is freed during its fetch; a list whose loop is freed, which blocks again. */
  list = orders_of(client, "s", NULL);
  fetch(loop, list, &context);
  billcore_order_list_free(list);
  expect_end(loop, &context, BILLCORE_OK);
  list = orders_of(client, "s", NULL);
  fetch(loop, list, &context);
  billcore_loop_free(loop);
  CHECK(context.ends == 0 && context.releases == 1);
  forget(&context);
  expect_next(list, "a");
  fetch_now(second, list);
  billcore_order_list* held = orders_of(client, "held", NULL);
  const int before = requests;
  fetch(second, held, &context);
  drive_until_sent(second, before + 1);
  CHECK_OK(billcore_loop_cancel(second, context.ticket, &err));
  drive_until(second, &context.ends, 1);
  CHECK(strstr(billcore_error_message(context.failure).data, "/subscription/held/orders?page=1") != NULL);
  expect_end(second, &context, interrupted);
  billcore_loop_free(second);
  billcore_order_list_free(held);
  expect_next(list, "b");
  expect_next(list, "c");
  billcore_order_list_free(list);
  billcore_order_list_free(foreign);
  billcore_client_free(stranger);
}

int main(void) {
  server* at = server_start(answer);
  billcore_client* client = client_of(at);
  billcore_loop_free(NULL);
  CHECK(billcore_loop_descriptor(NULL) == -1 && billcore_loop_running(NULL) == 0);
  test_callbacks(client);
  test_use_client(at, client);
  test_asking(client);
  test_refused(client);
  test_cancel(client);
  test_cancel_meanwhile(client);
  test_searches(client);
  test_undriven(client);
  test_edges(client);
  test_lists(at, client);
  billcore_client_free(client);
  server_stop(at);
  return 0;
}
