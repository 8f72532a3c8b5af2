/* Tests loops: calls that do not block, their ends, and what programs do wrong with them. */
#define _GNU_SOURCE

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/client.h"

#define PAGE(items, number)                                                                               \
  "{\"data\":[" items "],\"pagination\":{\"total\":4,\"count\":2,\"per_page\":2,\"current_page\":" number \
  ",\"total_pages\":2,\"links\":{}}}"
#define FOUND                                                                                               \
  "{\"data\":[{\"id\":\"new\",\"total\":1500,\"state\":\"paid\",\"created_at\":\"2999-01-01T00:00:00Z\"}]," \
  "\"pagination\":{\"total\":1,\"count\":1,\"per_page\":200,\"current_page\":1,\"total_pages\":1,\"links\":{}}}"

static const billcore_status invalid = BILLCORE_ERROR_INVALID_ARGUMENT;
static billcore_error* err;
static atomic_int requests; /* number of requests that the server has seen */
static atomic_bool fails_pages;

static const char* answer(const char* request) {
  ++requests;
  if (strstr(request, "held") != NULL) return NULL;
  if (strncmp(request, "DELETE", 6) == 0) return "HTTP/1.1 204 No Content" HEAD;
  if (strstr(request, "/order/none") != NULL) return "HTTP/1.1 404 Not Found" HEAD "{}";
  if (strstr(request, "/subscription/lost/orders") != NULL) return "HTTP/1.1 404 Not Found" HEAD "{}";
  if (strstr(request, "per_page=200") != NULL) return "HTTP/1.1 200 OK" HEAD FOUND;
  if (strstr(request, "page=2") != NULL)
    return fails_pages ? "HTTP/1.1 404 X" HEAD "{}" : "HTTP/1.1 200 OK" HEAD PAGE(ORDER("c") "," ORDER("d"), "2");
  if (strstr(request, "page=1") != NULL) return "HTTP/1.1 200 OK" HEAD PAGE(ORDER("a") "," ORDER("b"), "1");
  return "HTTP/1.1 200 OK" HEAD "{\"data\":" ORDER("o") "}";
}

/* ---- calls of the tests ---- */

static billcore_loop* new_loop(const billcore_client* client) {
  billcore_loop* out = NULL;
  CHECK_OK(billcore_loop_new(client, &out, &err));
  CHECK(billcore_loop_descriptor(out) >= 0 && billcore_loop_running(out) == 0);
  return out;
}

static billcore_operation* make(const char* name, const char* id) {
  billcore_operation* out = NULL;
  CHECK_OK(billcore_operation_new(billcore_str_from(name), &out, &err));
  if (id != NULL) CHECK_OK(billcore_operation_set_text(out, BILLCORE_STR("id"), billcore_str_from(id), &err));
  return out;
}

static billcore_operation* make_charge(const char* id) {
  billcore_operation* out = make("subscriptions.charge", id);
  CHECK_OK(billcore_operation_set_int64(out, BILLCORE_STR("product_id"), 7, &err));
  CHECK_OK(billcore_operation_set_int64(out, BILLCORE_STR("amount"), 1500, &err));
  return out;
}

/* What the callbacks of a call note. */
typedef struct {
  billcore_loop* loop;
  int ends;
  int releases;
  billcore_status status;
  billcore_result* result;
  billcore_error* failure;
  void (*then)(void); /* called by note_end */
} noted;

static bool processing;

static void note_end(void* context, billcore_ticket ticket, billcore_result* result, billcore_error* failure) {
  noted* self = context;
  CHECK(processing && ticket != 0);
  ++self->ends;
  CHECK(self->releases == 0);
  billcore_result_free(self->result);
  billcore_error_free(self->failure);
  self->result = result;
  self->failure = failure;
  self->status = billcore_error_status(failure);
  if (self->then != NULL) self->then();
}

static void note_release(void* context) { ++((noted*)context)->releases; }

static void forget(noted* self) {
  billcore_result_free(self->result);
  billcore_error_free(self->failure);
  *self = (noted){.loop = self->loop};
}

static billcore_ticket start(billcore_loop* loop, billcore_operation* operation, noted* context) {
  billcore_ticket ticket = 0;
  CHECK_OK(billcore_loop_start(loop, operation, NULL, note_end, context, note_release, &ticket, &err));
  CHECK(ticket != 0 && context->ends == 0);
  return ticket;
}

static billcore_ticket start_and_free(billcore_loop* loop, billcore_operation* operation, noted* context) {
  const billcore_ticket ticket = start(loop, operation, context);
  billcore_operation_free(operation); /* a call in flight does not need its operation */
  return ticket;
}

static billcore_status process(billcore_loop* loop, bool* more) {
  processing = true;
  const billcore_status status = billcore_loop_process(loop, more, &err);
  processing = false;
  return status;
}

static void wait_once(const billcore_loop* loop) {
  struct pollfd descriptor = {billcore_loop_descriptor(loop), POLLIN, 0};
  CHECK(poll(&descriptor, 1, -1) == 1);
}

static void drive_until(billcore_loop* loop, const int* number, int wanted) {
  while (*number < wanted) {
    wait_once(loop);
    CHECK(process(loop, NULL) == BILLCORE_OK);
  }
}

/* Drives the loop until the server has seen so many requests. */
static void drive_until_sent(billcore_loop* loop, int wanted) {
  while (requests < wanted) {
    struct pollfd descriptor = {billcore_loop_descriptor(loop), POLLIN, 0};
    CHECK(poll(&descriptor, 1, 1) >= 0);
    CHECK(process(loop, NULL) == BILLCORE_OK);
  }
}

static void expect_order(noted* self, const char* id) {
  billcore_order* order = NULL;
  billcore_str found;
  CHECK(self->ends == 1 && self->releases == 1 && self->status == BILLCORE_OK && self->failure == NULL);
  CHECK_OK(billcore_result_take_order(&self->result, &order, &err));
  CHECK_OK(billcore_order_id(order, &found, NULL, &err));
  CHECK(is_text(found, id));
  billcore_order_free(order);
  forget(self);
}

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

static billcore_order_list* list_of(const billcore_client* client, const char* id) {
  billcore_order_list* out = NULL;
  CHECK_OK(billcore_subscription_orders_new(client, billcore_str_from(id), NULL, NULL, &out, &err));
  return out;
}

static void fetch(billcore_loop* loop, billcore_order_list* list, noted* context) {
  CHECK_OK(billcore_loop_fetch(loop, (billcore_list*)list, note_end, context, note_release, NULL, &err));
  drive_until(loop, &context->ends, 1);
  CHECK(context->result == NULL && context->releases == 1);
}

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

/* ---- callbacks that use the loop ---- */

static billcore_loop* shared;
static billcore_operation* again;
static noted second_call;
static billcore_ticket to_cancel;

static void start_another(void) {
  CHECK_OK(billcore_loop_start(shared, again, NULL, note_end, &second_call, NULL, NULL, &err));
}
static void cancel_another(void) { CHECK_OK(billcore_loop_cancel(shared, to_cancel, &err)); }
static void free_loop(void) { billcore_loop_free(shared); }
static void process_within(void) {
  CHECK_FAILS(billcore_loop_process(shared, NULL, &err), invalid, "a callback called");
}
static void free_in_hook(void* context, const billcore_attempt* attempt) {
  if (attempt->moment == *(const billcore_moment*)context) billcore_loop_free(shared);
}

static void test_callbacks_that_act(const billcore_client* client) {
  noted first = {.then = start_another};
  noted held = {0};
  shared = new_loop(client);
  again = make("orders.get", "o");
  start(shared, again, &first);
  drive_until(shared, &second_call.ends, 1);
  CHECK(first.ends == 1 && second_call.status == BILLCORE_OK);
  forget(&first), forget(&second_call);

  to_cancel = start_and_free(shared, make("orders.get", "held"), &held);
  first.then = cancel_another;
  start(shared, again, &first);
  drive_until(shared, &held.ends, 1);
  CHECK(held.status == BILLCORE_ERROR_INTERRUPTED);
  forget(&first), forget(&held);

  first.then = process_within;
  start(shared, again, &first);
  drive_until(shared, &first.ends, 1);
  forget(&first);

  /* Ends that wait for the same process are given up with the loop. */
  first.then = free_loop;
  noted others[3] = {{0}};
  start(shared, again, &first);
  for (int i = 0; i < 3; ++i) start_and_free(shared, make("orders.get", "held"), &others[i]);
  while (first.ends == 0) {
    wait_once(shared);
    bool more = true;
    CHECK(process(shared, &more) == BILLCORE_OK);
    CHECK(first.ends == 0 || !more);
  }
  for (int i = 0; i < 3; ++i) CHECK(others[i].ends == 0 && others[i].releases == 1);
  forget(&first);

  /* A hook may free the loop: before the request, and after the answer. */
  static billcore_moment moments[2] = {BILLCORE_MOMENT_REQUEST, BILLCORE_MOMENT_RESPONSE};
  for (int i = 0; i < 2; ++i) {
    billcore_call_options* options = NULL;
    CHECK_OK(billcore_call_options_new(&options, &err));
    CHECK_OK(billcore_call_options_set_hook(options, free_in_hook, &moments[i], NULL, &err));
    shared = new_loop(client);
    CHECK_OK(billcore_loop_start(shared, again, options, note_end, &first, note_release, NULL, &err));
    while (first.releases == 0) {
      wait_once(shared);
      CHECK(process(shared, NULL) == BILLCORE_OK);
    }
    CHECK(first.ends == 0);
    forget(&first);
    billcore_call_options_free(options);
  }
  billcore_operation_free(again);
}

/* Random callbacks start, cancel and fetch, and free the list and the loop, also while other ends wait: each context is
 * released once, after at most one end. */
enum { most_calls = 24 };
static struct {
  noted calls[most_calls];
  billcore_ticket tickets[most_calls];
  int count;
  billcore_order_list* list;
  bool is_freed; /* the loop */
  unsigned random;
} game;

static unsigned draw(unsigned below) {
  game.random = game.random * 1103515245u + 12345u;
  return (game.random >> 16) % below;
}

static void act(void);

static void start_one(void) {
  static const char* const ids[] = {"o", "o", "none", "held"};
  if (game.count == most_calls) return;
  const int number = game.count++;
  noted* self = &game.calls[number];
  self->then = act;
  if (draw(3) == 0 && game.list != NULL) {
    billcore_list* list = (billcore_list*)game.list;
    const billcore_status status =
        billcore_loop_fetch(shared, list, note_end, self, note_release, &game.tickets[number], NULL);
    CHECK(status == BILLCORE_OK || status == invalid); /* one fetch at a time, or the loop was freed */
  } else {
    billcore_operation* operation = draw(4) == 0 ? make_charge(ids[draw(4)]) : make("orders.get", ids[draw(4)]);
    const billcore_status status =
        billcore_loop_start(shared, operation, NULL, note_end, self, note_release, &game.tickets[number], NULL);
    CHECK(status == BILLCORE_OK || status == invalid);
    billcore_operation_free(operation);
  }
}

static void act(void) {
  switch (draw(30)) {
    case 0:
      billcore_loop_free(shared); /* when process returns */
      game.is_freed = true;
      break;
    case 1:
      billcore_order_list_free(game.list);
      game.list = NULL;
      break;
    case 2:
    case 3:
    case 4:
    case 5:
      CHECK_OK(billcore_loop_cancel(shared, game.tickets[draw(most_calls)], &err));
      break;
    default:
      start_one();
  }
}

static void test_random_callbacks(const billcore_client* client) {
  for (unsigned round = 0; round < 150; ++round) {
    memset(&game, 0, sizeof game);
    game.random = round;
    game.list = list_of(client, "s");
    shared = new_loop(client);
    for (int i = 0; i < 6; ++i) start_one();
    for (unsigned turns = 20 + draw(20); turns > 0 && !game.is_freed; --turns) {
      struct pollfd descriptor = {billcore_loop_descriptor(shared), POLLIN, 0};
      CHECK(poll(&descriptor, 1, 1) >= 0);
      CHECK(process(shared, NULL) == BILLCORE_OK);
    }
    if (!game.is_freed) billcore_loop_free(shared);
    for (int i = 0; i < most_calls; ++i) {
      const bool was_given = game.calls[i].then != NULL;
      CHECK(game.calls[i].releases == (was_given ? 1 : 0) && game.calls[i].ends <= 1);
      forget(&game.calls[i]);
    }
    billcore_order_list_free(game.list);
  }
}

/* ---- processes, threads, descriptors ---- */

static atomic_ullong latest; /* the ticket that was given last; 0 ends cancel_latest */

static void* cancel_latest(void* loop) {
  for (billcore_ticket ticket; (ticket = latest) != 0;) {
    CHECK(billcore_loop_cancel(loop, ticket, NULL) == BILLCORE_OK);
    sched_yield();
  }
  return NULL;
}

/* Another thread cancels calls at any moment: each call ends once, with its answer or as cancelled. */
static void test_cancelling_thread(const billcore_client* client) {
  enum { calls = 300 };
  billcore_loop* loop = new_loop(client);
  static noted each[calls];
  pthread_t thread;
  memset(each, 0, sizeof each);
  for (int i = 0; i < calls; ++i) {
    latest = start_and_free(loop, i % 2 == 0 ? make("orders.get", "o") : make_charge("s"), &each[i]);
    if (i == 0) CHECK(pthread_create(&thread, NULL, cancel_latest, loop) == 0);
    if (i % 3 == 0) drive_until(loop, &each[i].ends, 1);
  }
  for (int i = 0; i < calls; ++i) drive_until(loop, &each[i].ends, 1);
  latest = 0;
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(billcore_loop_running(loop) == 0);
  for (int i = 0; i < calls; ++i) {
    CHECK(each[i].ends == 1 && each[i].releases == 1);
    CHECK(each[i].status == BILLCORE_OK || each[i].status == BILLCORE_ERROR_INTERRUPTED);
    forget(&each[i]);
  }
  billcore_loop_free(loop);
}

static int fork_and_check(void) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child > 0) {
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    return status;
  }
  noted context = {0};
  const billcore_status config = BILLCORE_ERROR_CONFIG;
  bool more = true;
  CHECK_FAILS(billcore_loop_process(shared, &more, &err), config, "forked");
  CHECK(!more);
  CHECK_FAILS(billcore_loop_start(shared, again, NULL, note_end, &context, note_release, NULL, &err), config, "forked");
  CHECK_FAILS(billcore_loop_cancel(shared, 1, &err), config, "forked");
  CHECK(context.releases == 1 && context.ends == 0);
  billcore_loop_free(shared);
  _exit(0);
}

static pid_t child_of_callback;
static void fork_within(void) { child_of_callback = fork(); }

static void test_fork(const billcore_client* client) {
  noted context = {0};
  noted other = {0};
  shared = new_loop(client);
  again = make("orders.get", "o");
  start(shared, again, &context);
  CHECK(fork_and_check() == 0);
  drive_until(shared, &context.ends, 1); /* the parent's call goes on */
  expect_order(&context, "o");

  /* In the child of a callback's fork no further call ends. */
  context.then = fork_within;
  start(shared, again, &context);
  start(shared, again, &other);
  while (context.ends == 0 || other.ends == 0) {
    wait_once(shared);
    const billcore_status status = process(shared, NULL);
    if (context.ends > 0 && child_of_callback == 0) {
      CHECK(status == BILLCORE_ERROR_CONFIG);
      billcore_loop_free(shared);
      _exit(0);
    }
    CHECK(status == BILLCORE_OK);
  }
  int status = -1;
  CHECK(waitpid(child_of_callback, &status, 0) == child_of_callback && status == 0);
  context.then = NULL;
  forget(&context), forget(&other);
  billcore_operation_free(again);
  billcore_loop_free(shared);
}

static void exit_within(void) { exit(0); }

/* A callback may end the process. */
static void test_exit(const server* at) {
  const pid_t child = fork();
  if (child == 0) {
    static noted context = {.then = exit_within};
    billcore_client* client = client_of(at, "key", NULL, NULL);
    shared = new_loop(client);
    again = make("orders.get", "o");
    start(shared, again, &context);
    drive_until(shared, &context.ends, 2);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void* use_loop(void* given) {
  billcore_error* failed = NULL;
  billcore_ticket ticket = 7;
  CHECK(billcore_loop_start(shared, given, NULL, NULL, NULL, NULL, &ticket, &failed) == invalid && ticket == 0);
  CHECK(strstr(billcore_error_message(failed).data, "two threads") != NULL);
  billcore_error_free(failed);
  return NULL;
}

static void use_in_thread(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, use_loop, again) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
}

static void test_two_threads(const billcore_client* client) {
  noted context = {.then = use_in_thread};
  shared = new_loop(client);
  again = make("orders.get", "o");
  start(shared, again, &context);
  drive_until(shared, &context.ends, 1);
  forget(&context);
  billcore_operation_free(again);
  billcore_loop_free(shared);
}

/* If the program closes the descriptor, calls still end as long as the program calls process, which says so. */
static void test_closed_descriptor(const billcore_client* client) {
  billcore_loop* loop = new_loop(client);
  noted context = {0};
  /* Another file takes the number, so that the loop closes no descriptor of the test. */
  CHECK(dup2(STDOUT_FILENO, billcore_loop_descriptor(loop)) == billcore_loop_descriptor(loop));
  start_and_free(loop, make("orders.get", "o"), &context);
  while (context.ends == 0) {
    CHECK(process(loop, NULL) == invalid);
    CHECK(strstr(billcore_error_message(err).data, "was closed") != NULL);
    billcore_error_free(err);
    err = NULL;
  }
  expect_order(&context, "o");
  billcore_loop_free(loop);
}

static void test_no_descriptors(const billcore_client* client) {
  billcore_loop* loop = new_loop(client);
  billcore_loop* none = NULL;
  noted context = {0};
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const int next = dup(STDOUT_FILENO);
  CHECK(next >= 0);
  close(next);
  const struct rlimit low = {(rlim_t)next, limit.rlim_max};
  CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
  CHECK_FAILS(billcore_loop_new(client, &none, &err), BILLCORE_ERROR_INTERNAL, "Too many open files");
  start_and_free(loop, make_charge("s"), &context);
  drive_until(loop, &context.ends, 1);
  CHECK(context.status == BILLCORE_ERROR_CONNECTION && !billcore_error_outcome_unknown(context.failure));
  CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  forget(&context);
  start_and_free(loop, make("orders.get", "o"), &context);
  drive_until(loop, &context.ends, 1);
  expect_order(&context, "o");
  billcore_loop_free(loop);
}

static void test_closed_client(const server* at) {
  billcore_client* client = client_of(at, "key", NULL, NULL);
  billcore_loop* loop = new_loop(client);
  billcore_order_list* list = list_of(client, "s");
  billcore_operation* charge = make_charge("s");
  noted context = {0};
  start_and_free(loop, make("orders.get", "o"), &context);
  CHECK_OK(billcore_client_close(client, &err));
  CHECK_FAILS(billcore_loop_start(loop, charge, NULL, note_end, NULL, NULL, NULL, &err), BILLCORE_ERROR_CONFIG,
              "the client is closed");
  CHECK_FAILS(billcore_loop_fetch(loop, (billcore_list*)list, note_end, NULL, NULL, NULL, &err), BILLCORE_ERROR_CONFIG,
              "the client is closed");
  billcore_loop* late = NULL;
  CHECK_FAILS(billcore_loop_new(client, &late, &err), BILLCORE_ERROR_CONFIG, "the client is closed");
  billcore_client_free(client);
  drive_until(loop, &context.ends, 1);
  expect_order(&context, "o");
  billcore_operation_free(charge);
  billcore_loop_free(loop);
  billcore_order_list_free(list);
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
  test_searches(client);
  test_undriven(client);
  test_edges(client);
  test_lists(client, stranger);
  test_callbacks_that_act(client);
  test_random_callbacks(client);
  test_cancelling_thread(client);
  test_fork(client);
  test_exit(at);
  test_two_threads(client);
  test_closed_descriptor(client);
  test_no_descriptors(client);
  test_closed_client(at);
  billcore_client_free(client);
  billcore_client_free(stranger);
  server_stop(at);
  return 0;
}
