/* Tests the calls, searches and lists of a loop: their ends, how they are cancelled, and their time-outs. */
#define _GNU_SOURCE

#include "support/loop.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

/* ---- ends ---- */

static void test_callbacks(const billcore_client* client) {
  billcore_loop* loop = new_loop(client);
  noted got = {0};
  noted charged = {0};
  noted missing = {0};
  noted deleted = {0};
  noted asked = {0};
  billcore_response* response = NULL;
  int32_t code = 0;
  billcore_operation* get = make("orders.get", "o");
  billcore_operation* delete = make("products.delete", NULL);
  billcore_operation* request = make("request", NULL);
  CHECK_OK(billcore_operation_set_int64(delete, BILLCORE_STR("id"), 7, &err));
  CHECK_OK(billcore_operation_set_text(request, BILLCORE_STR("method"), BILLCORE_STR("GET"), &err));
  CHECK_OK(billcore_operation_set_text(request, BILLCORE_STR("path"), BILLCORE_STR("/order/none"), &err));
  CHECK_OK(billcore_operation_set_bool(request, BILLCORE_STR("raise_on_error"), false, &err));
  start(loop, get, &got);
  start_and_free(loop, make_charge("s"), &charged);
  start_and_free(loop, make("orders.get", "none"), &missing);
  start_and_free(loop, delete, &deleted);
  start_and_free(loop, request, &asked);
  CHECK(billcore_loop_running(loop) == 5);
  while (billcore_loop_running(loop) > 0) {
    wait_once(loop);
    CHECK(process(loop, NULL) == BILLCORE_OK);
  }
  expect_order(&got, "o");
  expect_order(&charged, "o");
  CHECK(missing.ends == 1 && missing.status == BILLCORE_ERROR_NOT_FOUND && missing.result == NULL);
  CHECK(deleted.ends == 1 && deleted.status == BILLCORE_OK && deleted.result == NULL);
  CHECK(asked.ends == 1 && asked.status == BILLCORE_OK);
  CHECK_OK(billcore_result_take_response(&asked.result, &response, &err));
  CHECK_OK(billcore_response_status(response, &code, &err));
  CHECK(code == 404);
  billcore_response_free(response);
  forget(&missing);
  start(loop, get, &got); /* a read can be used again */
  drive_until(loop, &got.ends, 1);
  expect_order(&got, "o");
  billcore_operation_free(get);
  billcore_loop_free(loop);
}

static void test_asking(const billcore_client* client) {
  billcore_loop* loop = new_loop(client);
  billcore_operation* get = make("orders.get", "o");
  billcore_operation* none = make("orders.get", "none");
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
    wait_once(loop);
    CHECK(process(loop, NULL) == BILLCORE_OK);
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
  wait_once(loop);
  billcore_operation_free(get);
  billcore_operation_free(none);
  billcore_loop_free(loop); /* with a call that nobody asked about */
}

static void test_refused(const billcore_client* client) {
  billcore_loop* loop = new_loop(client);
  noted context = {0};
  billcore_call_options* options = NULL;
  billcore_cancel* token = NULL;
  billcore_operation* charge = make_charge("s");
  billcore_operation* listing = make("subscriptions.list", NULL);
  billcore_operation* unset = make("orders.get", NULL);
  billcore_ticket ticket = 7;
  CHECK_OK(billcore_cancel_new(&token, &err));
  CHECK_OK(billcore_call_options_new(&options, &err));
  CHECK_OK(billcore_call_options_set_cancel(options, token, &err));
  CHECK_FAILS(billcore_loop_start(loop, charge, options, note_end, &context, note_release, &ticket, &err), invalid,
              "no cancel token");
  CHECK(ticket == 0 && context.releases == 1);
  CHECK_FAILS(billcore_loop_start(loop, listing, NULL, note_end, &context, note_release, NULL, &err), invalid,
              "is a list");
  CHECK_FAILS(billcore_loop_start(loop, unset, NULL, note_end, &context, note_release, NULL, &err), invalid, "id");
  CHECK_FAILS(billcore_loop_start(NULL, charge, NULL, note_end, &context, note_release, NULL, &err), invalid, "NULL");
  CHECK(context.releases == 4 && billcore_loop_running(loop) == 0);
  const int before = requests;
  context = (noted){0};
  start(loop, charge, &context); /* what was refused has not used the charge up */
  CHECK_FAILS(billcore_loop_start(loop, charge, NULL, note_end, NULL, NULL, NULL, &err), invalid, "was used");
  drive_until(loop, &context.ends, 1);
  expect_order(&context, "o");
  CHECK_FAILS(billcore_client_perform(client, charge, NULL, &(billcore_result*){NULL}, &err), invalid, "was used");
  CHECK(requests == before + 1);
  billcore_operation_free(charge);
  billcore_operation_free(listing);
  billcore_operation_free(unset);
  billcore_call_options_free(options);
  billcore_cancel_free(token);
  billcore_loop_free(loop);
}

/* ---- cancelling ---- */

static void* cancel_in_thread(void* given) {
  const noted* self = given;
  billcore_error* failed = NULL;
  CHECK(billcore_loop_cancel(self->loop, (billcore_ticket)self->releases, &failed) == BILLCORE_OK);
  return NULL;
}

static void test_cancel(const billcore_client* client) {
  billcore_loop* loop = new_loop(client);
  noted unsent = {0};
  noted held = {0};
  noted charge = {0};
  noted found = {0};
  int before = requests;
  billcore_ticket ticket = start_and_free(loop, make_charge("s"), &unsent);
  CHECK_OK(billcore_loop_cancel(loop, ticket, &err));
  CHECK_OK(billcore_loop_cancel(loop, ticket, &err));
  CHECK(unsent.ends == 0);
  drive_until(loop, &unsent.ends, 1);
  CHECK(unsent.status == BILLCORE_ERROR_INTERRUPTED && !billcore_error_outcome_unknown(unsent.failure));
  CHECK(requests == before && unsent.ends == 1);
  forget(&unsent);

  ticket = start_and_free(loop, make("orders.get", "held"), &held);
  const billcore_ticket other = start_and_free(loop, make_charge("held"), &charge);
  drive_until_sent(loop, before + 2);
  pthread_t thread;
  noted posted = {.loop = loop, .releases = (int)ticket};
  CHECK(pthread_create(&thread, NULL, cancel_in_thread, &posted) == 0);
  drive_until(loop, &held.ends, 1);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(held.status == BILLCORE_ERROR_INTERRUPTED && !billcore_error_outcome_unknown(held.failure));
  CHECK(strstr(billcore_error_message(held.failure).data, "GET /order/held") != NULL && held.releases == 1);
  CHECK_OK(billcore_loop_cancel(loop, other, &err));
  drive_until(loop, &charge.ends, 1);
  CHECK(charge.status == BILLCORE_ERROR_INTERRUPTED && billcore_error_outcome_unknown(charge.failure));
  CHECK_OK(billcore_loop_cancel(loop, other, &err)); /* it has ended */
  CHECK_OK(billcore_loop_cancel(loop, 0, &err));
  CHECK(process(loop, NULL) == BILLCORE_OK && charge.ends == 1 && billcore_loop_running(loop) == 0);

  /* The error of the cancelled charge leads to its order, as the error of a blocking call does. */
  CHECK_OK(billcore_loop_find_charges(loop, charge.failure, NULL, NULL, note_end, &found, note_release, NULL, &err));
  ticket = 0;
  CHECK_OK(billcore_loop_find_charges(loop, charge.failure, NULL, NULL, note_end, &held, NULL, &ticket, &err));
  forget(&held);
  CHECK_OK(billcore_loop_cancel(loop, ticket, &err));
  drive_until(loop, &held.ends, 1);
  CHECK(held.status == BILLCORE_ERROR_INTERRUPTED);
  forget(&held);
  billcore_loop_free(loop);
  CHECK(found.ends == 0 && found.releases == 1); /* "held" again: the search waited for the list of that subscription */
  forget(&charge);
}

static void (*before_wait)(void); /* what the next epoll_wait() does first, in the library too */
static noted* waited_for;

__attribute__((visibility("default"))) int epoll_wait(int set, struct epoll_event* events, int room, int milliseconds) {
  void (*const first)(void) = before_wait;
  before_wait = NULL;
  if (first != NULL) first();
  return epoll_pwait(set, events, room, milliseconds, NULL);
}

static void cancel_at_once(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, cancel_in_thread, waited_for) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
}

/* A thread cancels a call after billcore_loop_process has looked for such calls, and before it reads its wake-ups. */
static void test_cancel_meanwhile(const billcore_client* client) {
  billcore_loop* loop = new_loop(client);
  noted held = {.loop = loop};
  const int before = requests;
  noted posted = {.loop = loop, .releases = (int)start_and_free(loop, make("orders.get", "held"), &held)};
  drive_until_sent(loop, before + 1);
  waited_for = &posted;
  before_wait = cancel_at_once;
  CHECK(process(loop, NULL) == BILLCORE_OK && before_wait == NULL && held.ends == 0);
  struct pollfd descriptor = {billcore_loop_descriptor(loop), POLLIN, 0};
  CHECK(poll(&descriptor, 1, 0) == 1);
  drive_until(loop, &held.ends, 1);
  CHECK(held.status == BILLCORE_ERROR_INTERRUPTED);
  forget(&held);
  billcore_loop_free(loop);
}

static void test_searches(const billcore_client* client) {
  billcore_loop* loop = new_loop(client);
  noted search = {0};
  billcore_order_page* page = NULL;
  billcore_resource* resource = NULL;
  size_t count = 0;
  CHECK_OK(billcore_loop_find_charges_since(loop, BILLCORE_STR("s"), 0, NULL, NULL, note_end, &search, note_release,
                                            NULL, &err));
  drive_until(loop, &search.ends, 1);
  CHECK(search.status == BILLCORE_OK && billcore_result_kind_of(search.result) == BILLCORE_RESULT_PAGE);
  CHECK_FAILS(billcore_result_take_resource(&search.result, BILLCORE_RESULT_PAGE, &resource, &err), invalid, "kind");
  CHECK_OK(billcore_result_take_orders(&search.result, &page, &err));
  CHECK_OK(billcore_order_page_count(page, &count, &err));
  CHECK(count == 1);
  billcore_order_page_free(page);
  forget(&search);
  CHECK_OK(
      billcore_loop_find_charges_since(loop, BILLCORE_STR("s"), 0, NULL, NULL, note_end, &search, NULL, NULL, &err));
  drive_until(loop, &search.ends, 1);
  forget(&search); /* frees a page that nobody took */
  CHECK_OK(
      billcore_loop_find_charges_since(loop, BILLCORE_STR("lost"), 0, NULL, NULL, note_end, &search, NULL, NULL, &err));
  drive_until(loop, &search.ends, 1);
  CHECK(search.status == BILLCORE_ERROR_NOT_FOUND);
  forget(&search);
  CHECK_FAILS(billcore_loop_find_charges(loop, NULL, NULL, NULL, note_end, &search, note_release, NULL, &err), invalid,
              "the error of the charge is missing");
  CHECK(search.releases == 1 && billcore_loop_running(loop) == 0);
  billcore_loop_free(loop);
}

/* ---- time ---- */

static void sleep_until(const struct timespec* when) {
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, when, NULL) != 0) continue;
}

/* While nobody drives the loop, the time-outs pass; then the calls end, and nothing is sent late. */
static void test_undriven(const billcore_client* client) {
  billcore_loop* loop = new_loop(client);
  billcore_call_options* options = NULL;
  billcore_operation* charge = make_charge("s");
  noted late = {0};
  struct timespec now;
  const int before = requests;
  CHECK_OK(billcore_call_options_new(&options, &err));
  CHECK_OK(billcore_call_options_set_timeout_ms(options, 20, &err));
  CHECK_OK(billcore_loop_start(loop, charge, options, note_end, &late, NULL, NULL, &err));
  CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
  now.tv_sec += 1;
  sleep_until(&now);
  drive_until(loop, &late.ends, 1);
  CHECK(late.status == BILLCORE_ERROR_TIMEOUT && !billcore_error_outcome_unknown(late.failure) && requests == before);
  forget(&late);
  /* The descriptor covers the deadline of a call that nobody answers. */
  billcore_operation* held = make("orders.get", "held");
  CHECK_OK(billcore_loop_start(loop, held, options, note_end, &late, NULL, NULL, &err));
  drive_until(loop, &late.ends, 1);
  CHECK(late.status == BILLCORE_ERROR_TIMEOUT);
  forget(&late);
  billcore_operation_free(charge);
  billcore_operation_free(held);
  billcore_call_options_free(options);
  billcore_loop_free(loop);
}

/* An edge-triggered poller misses nothing if it goes on until `more` is false. */
static void test_edges(const billcore_client* client) {
  enum { calls = 300 };
  billcore_loop* loop = new_loop(client);
  billcore_operation* get = make("orders.get", "o");
  static noted context;
  const int edges = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN | EPOLLET};
  int turns = 0;
  context = (noted){0};
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

static void expect_next(billcore_order_list* list, const char* id) {
  billcore_order* order = NULL;
  billcore_str found;
  CHECK_OK(billcore_order_list_next(list, &order, &err));
  CHECK_OK(billcore_order_id(order, &found, NULL, &err));
  CHECK(is_text(found, id));
  billcore_order_free(order);
}

static void test_lists(const billcore_client* client, const billcore_client* stranger) {
  billcore_loop* loop = new_loop(client);
  billcore_loop* second = new_loop(client);
  billcore_order_list* list = list_of(client, "s");
  billcore_order_list* foreign = list_of(stranger, "s");
  billcore_order* order = NULL;
  billcore_order_page* page = NULL;
  noted context = {0};
  bool complete = false;
  bool present = false;
  fetch(loop, list, &context);
  forget(&context);
  CHECK_FAILS(billcore_loop_fetch(second, (billcore_list*)list, note_end, &context, NULL, NULL, &err), invalid,
              "another loop");
  CHECK_FAILS(billcore_loop_fetch(loop, (billcore_list*)foreign, note_end, &context, NULL, NULL, &err), invalid,
              "different clients");
  fetch(loop, list, &context); /* unread items: nothing to fetch */
  forget(&context);
  expect_next(list, "a");
  CHECK_OK(billcore_order_list_next_page(list, &page, &err));
  billcore_order_page_free(page);
  CHECK_FAILS(billcore_order_list_next(list, &order, &err), invalid, "fetch the page on the loop");
  CHECK_FAILS(billcore_order_list_next_page(list, &page, &err), invalid, "fetch the page on the loop");

  fails_pages = true;
  fetch(loop, list, &context);
  CHECK(context.status == BILLCORE_ERROR_NOT_FOUND && strstr(billcore_error_message(context.failure).data, "page=2"));
  forget(&context);
  fails_pages = false;
  CHECK_OK(billcore_loop_fetch(loop, (billcore_list*)list, note_end, &context, note_release, NULL, &err));
  CHECK_FAILS(billcore_loop_fetch(loop, (billcore_list*)list, note_end, NULL, NULL, NULL, &err), invalid,
              "one at a time");
  drive_until(loop, &context.ends, 1);
  CHECK(context.status == BILLCORE_OK);
  forget(&context);
  expect_next(list, "c");
  expect_next(list, "d");
  fetch(loop, list, &context); /* finds the end of the list */
  forget(&context);
  CHECK(billcore_order_list_next(list, &order, &err) == BILLCORE_DONE);
  CHECK_OK(billcore_order_list_verdict(list, &complete, NULL, &present, &err));
  CHECK(present && complete);
  billcore_order_list_free(list);

  /* A list that is freed during its fetch; a list whose loop is freed, which blocks again. */
  list = list_of(client, "s");
  CHECK_OK(billcore_loop_fetch(loop, (billcore_list*)list, note_end, &context, note_release, NULL, &err));
  billcore_order_list_free(list);
  drive_until(loop, &context.ends, 1);
  forget(&context);
  list = list_of(client, "s");
  CHECK_OK(billcore_loop_fetch(loop, (billcore_list*)list, note_end, &context, note_release, NULL, &err));
  billcore_loop_free(loop);
  CHECK(context.ends == 0 && context.releases == 1);
  forget(&context);
  expect_next(list, "a");
  fetch(second, list, &context);
  forget(&context);
  billcore_ticket ticket = 0;
  billcore_order_list* held = list_of(client, "held");
  CHECK_OK(billcore_loop_fetch(second, (billcore_list*)held, note_end, &context, note_release, &ticket, &err));
  const int before = requests;
  drive_until_sent(second, before + 1);
  CHECK_OK(billcore_loop_cancel(second, ticket, &err));
  drive_until(second, &context.ends, 1);
  CHECK(context.status == BILLCORE_ERROR_INTERRUPTED);
  CHECK(strstr(billcore_error_message(context.failure).data, "/subscription/held/orders?page=1") != NULL);
  forget(&context);
  billcore_loop_free(second);
  billcore_order_list_free(held);
  expect_next(list, "b");
  expect_next(list, "c");
  billcore_order_list_free(list);
  billcore_order_list_free(foreign);
}

int main(void) {
  server* at = server_start(answer);
  billcore_client* client = client_of(at, "key", NULL, NULL);
  billcore_client* stranger = client_of(at, "key", NULL, NULL);
  billcore_loop_free(NULL);
  CHECK(billcore_loop_descriptor(NULL) == -1 && billcore_loop_running(NULL) == 0);
  test_callbacks(client);
  test_asking(client);
  test_refused(client);
  test_cancel(client);
  test_cancel_meanwhile(client);
  test_searches(client);
  test_undriven(client);
  test_edges(client);
  test_lists(client, stranger);
  billcore_client_free(client);
  billcore_client_free(stranger);
  server_stop(at);
  return 0;
}
