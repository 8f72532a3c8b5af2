/* Tests the hooks of clients and calls. A hook is called once at the end of each attempt, and a hook that does not
 * return blocks only its own call. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "support/client.h"

static billcore_error* err;
static _Atomic int busy;     /* number of further requests to answer with 503 */
static _Atomic int requests; /* number of requests that the server has seen */

#define PAGE \
  "HTTP/1.1 200 OK" HEAD "{\"data\":[" ORDER("a") "," ORDER("b") "],\"pagination\":{\"total\":6,\"count\":2,\"per_page\":2," \
                                                              "\"current_page\":1,\"total_pages\":3,\"links\":{}}}"

static const char* answer(const char* request) {
  ++requests;
  if (strstr(request, "/subscription/held/") != NULL) return strstr(request, "page=1") != NULL ? PAGE : NULL;
  if (strstr(request, "/subscription/refused/") != NULL) return "HTTP/1.1 402 X" HEAD "{}";
  if (strstr(request, "/subscription/down/") != NULL) return "HTTP/1.1 503 X" HEAD "{}";
  if (strstr(request, "/order/gone") != NULL) return "";
  if (busy > 0 && busy-- > 0) return "HTTP/1.1 503 X\r\nRetry-After: 0" HEAD "{}";
  return "HTTP/1.1 200 OK" HEAD "{\"data\":" ORDER("o") "}";
}

typedef struct {
  char text[1024];
} record;

/* A hook that records each attempt as text. */
static void note(void* context, const billcore_attempt* attempt) {
  record* self = context;
  const size_t used = strlen(self->text);
  CHECK(attempt->duration_micros >= 0 && (attempt->moment != BILLCORE_MOMENT_REQUEST || attempt->duration_micros == 0));
  CHECK(attempt->wait_ms >= 0 && (attempt->moment == BILLCORE_MOMENT_RETRY || attempt->wait_ms == 0));
  CHECK(attempt->method.data != NULL && attempt->route.data != NULL && attempt->request_id.data != NULL);
  snprintf(self->text + used, sizeof self->text - used, "%d: %.*s %.*s %d %d %s %.*s\n", (int)attempt->moment,
           (int)attempt->method.len, attempt->method.data, (int)attempt->route.len, attempt->route.data,
           (int)attempt->number, (int)attempt->status, billcore_status_name(attempt->failure),
           (int)attempt->request_id.len, attempt->request_id.data);
}

static billcore_client* client_with(const server* at, billcore_hook hook, void* context) {
  billcore_client_options* options = NULL;
  billcore_client* out = NULL;
  CHECK_OK(billcore_client_options_new(&options, &err));
  CHECK_OK(billcore_client_options_set_base_url(options, billcore_str_from(server_url(at)), &err));
  CHECK_OK(billcore_client_options_set_api_key(options, BILLCORE_STR("key"), &err));
  CHECK_OK(billcore_client_options_set_hook(options, hook, context, NULL, &err));
  CHECK_OK(billcore_client_new(options, &out, &err));
  billcore_client_options_free(options);
  return out;
}

static void get(const billcore_client* client, const billcore_call_options* call) {
  billcore_order* order = NULL;
  CHECK_OK(billcore_order_get(client, BILLCORE_STR("o"), call, &order, &err));
  billcore_order_free(order);
}

static void test_what_they_are_told(const server* at) {
  record of_client = {""};
  record of_call = {""};
  billcore_client* client = client_with(at, note, &of_client);
  busy = 1;
  get(client, NULL);
  CHECK(strcmp(of_client.text,
               "1: GET /order/{id} 1 0 OK \n"
               "2: GET /order/{id} 1 503 OK req-7\n"
               "3: GET /order/{id} 1 503 OK req-7\n"
               "1: GET /order/{id} 2 0 OK \n"
               "2: GET /order/{id} 2 200 OK req-7\n") == 0 ||
        (fputs(of_client.text, stderr), false));

  /* The hook of a call replaces the client's hook. */
  billcore_call_options* call = NULL;
  of_client.text[0] = '\0';
  CHECK_OK(billcore_call_options_new(&call, &err));
  CHECK_OK(billcore_call_options_set_hook(call, note, &of_call, NULL, &err));
  get(client, call);
  CHECK(of_client.text[0] == '\0' && strstr(of_call.text, "2: GET ") != NULL);
  of_call.text[0] = '\0';
  CHECK_OK(billcore_call_options_set_hook(call, NULL, NULL, NULL, &err));
  get(client, call);
  CHECK(of_call.text[0] == '\0' && strstr(of_client.text, "2: GET ") != NULL);
  billcore_call_options_free(call);

  /* If an attempt gets no answer, the hook gets the reason. */
  billcore_client_changes* once = NULL;
  billcore_client* other = NULL;
  billcore_order* order = NULL;
  CHECK_OK(billcore_client_changes_new(&once, &err));
  CHECK_OK(billcore_client_changes_set_max_retries(once, 0, &err));
  CHECK_OK(billcore_client_with_options(client, once, &other, &err));
  billcore_client_changes_free(once);
  of_client.text[0] = '\0';
  CHECK_FAILS(billcore_order_get(other, BILLCORE_STR("gone"), NULL, &order, &err), BILLCORE_ERROR_CONNECTION, "broke");
  CHECK(strstr(of_client.text, "2: GET /order/{id} 1 0 CONNECTION \n") != NULL);
  billcore_client_free(other);
  billcore_client_free(client);
}

/* Counts the attempts of calls, and records how each attempt ends. */
typedef struct {
  int begun;
  int ended;
  char text[1024];
  billcore_client* client; /* if not NULL, the hook makes another call with this client at the end of an attempt */
} ends;

static void get(const billcore_client* client, const billcore_call_options* call);

static void note_end(void* context, const billcore_attempt* attempt) {
  ends* self = context;
  const size_t used = strlen(self->text);
  CHECK(attempt->path.data != NULL);
  if (attempt->moment == BILLCORE_MOMENT_REQUEST) {
    ++self->begun;
    CHECK(!attempt->sent && !attempt->outcome_unknown && attempt->path.len == 0);
    return;
  }
  ++self->ended;
  if (attempt->status != 200)
    snprintf(self->text + used, sizeof self->text - used, "%s %d%s%s %s\n", billcore_status_name(attempt->failure),
             (int)attempt->status, attempt->sent ? " sent" : "", attempt->outcome_unknown ? " unknown" : "",
             attempt->path.data);
  if (self->client != NULL) get(self->client, NULL);
}

static billcore_cancel* token;
static _Atomic int until; /* the interrupt ends a call when the server has seen this many requests */

static bool is_asked(void* context) {
  (void)context;
  return requests >= until;
}

static void* trigger(void* context) {
  while (requests < until) sched_yield();
  billcore_cancel_trigger(context);
  return NULL;
}

static void charge(const billcore_client* client, const char* id, billcore_call_options* call) {
  billcore_order* order = NULL;
  until = requests + 1;
  CHECK(billcore_subscription_charge(client, billcore_str_from(id), 1, 500, NULL, call, &order, &err) != BILLCORE_OK);
  billcore_error_free(err);
  err = NULL;
}

static void refused(const billcore_client* client, billcore_call_options* call) { charge(client, "refused", call); }
static void down(const billcore_client* client, billcore_call_options* call) { charge(client, "down", call); }
static void ended_by_the_time_out(const billcore_client* client, billcore_call_options* call) {
  CHECK_OK(billcore_call_options_set_timeout_ms(call, 2000, &err));
  charge(client, "held", call);
}
static void ended_by_a_token(const billcore_client* client, billcore_call_options* call) {
  pthread_t thread;
  CHECK_OK(billcore_call_options_set_cancel(call, token, &err));
  until = requests + 1;
  CHECK(pthread_create(&thread, NULL, trigger, token) == 0);
  charge(client, "held", call);
  CHECK(pthread_join(thread, NULL) == 0);
}
static void ended_by_the_interrupt(const billcore_client* client, billcore_call_options* call) {
  charge(client, "held", call);
}

/* Returns a list that has read one page and waits for further pages. */
static billcore_order_list* begun_list(const billcore_client* client, const billcore_call_options* call) {
  billcore_order_list* list = NULL;
  billcore_order* order = NULL;
  until = requests + 100;
  CHECK_OK(billcore_subscription_orders_new(client, BILLCORE_STR("held"), NULL, call, &list, &err));
  for (int i = 0; i < 2; ++i) {
    CHECK_OK(billcore_order_list_next(list, &order, &err));
    billcore_order_free(order);
  }
  return list;
}
static void stopped(const billcore_client* client, billcore_call_options* call) {
  billcore_order_list* list = begun_list(client, call);
  CHECK_OK(billcore_order_list_stop(list, &err));
  billcore_order_list_free(list);
}
static void freed(const billcore_client* client, billcore_call_options* call) {
  billcore_order_list_free(begun_list(client, call));
}

#define GIVEN_UP "sent unknown /subscription/held/order\n"

static const struct {
  void (*run)(const billcore_client* client, billcore_call_options* call);
  bool interrupts;
  int attempts;
  const char* ends; /* expected record; NULL: the record must contain an interrupted attempt, in any place */
} ways[] = {
    {refused, false, 1, "OK 402 sent \n"},
    {down, false, 1, "OK 503 sent unknown \n"},
    {ended_by_the_time_out, false, 1, "TIMEOUT 0 sent unknown \n"},
    {ended_by_a_token, false, 1, "INTERRUPTED 0 " GIVEN_UP},
    {ended_by_the_interrupt, true, 1, "INTERRUPTED 0 " GIVEN_UP},
    {stopped, false, 3, NULL},
    {freed, false, 3, NULL},
};

static void test_each_attempt_ends_once(const server* at) {
  for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
    ends told = {0, 0, "", NULL};
    billcore_call_options* call = NULL;
    billcore_client* client = client_of(at, "key", ways[i].interrupts ? is_asked : NULL, NULL);
    CHECK_OK(billcore_cancel_new(&token, &err));
    CHECK_OK(billcore_call_options_new(&call, &err));
    CHECK_OK(billcore_call_options_set_hook(call, note_end, &told, NULL, &err));
    ways[i].run(client, call);
    CHECK(told.begun == told.ended && told.begun == ways[i].attempts);
    CHECK(ways[i].ends == NULL || strcmp(told.text, ways[i].ends) == 0 || (fputs(told.text, stderr), false));
    CHECK(ways[i].ends != NULL || strstr(told.text, "INTERRUPTED 0") != NULL);
    billcore_call_options_free(call);
    billcore_cancel_free(token);
    billcore_client_free(client);
  }
}

/* A hook may make another call at the end of an attempt. */
static void test_a_call_at_the_end(const server* at) {
  billcore_client* other = client_of(at, "key", NULL, NULL);
  ends told = {0, 0, "", other};
  billcore_call_options* call = NULL;
  CHECK_OK(billcore_call_options_new(&call, &err));
  CHECK_OK(billcore_call_options_set_hook(call, note_end, &told, NULL, &err));
  ended_by_the_time_out(other, call);
  CHECK(told.begun == 1 && told.ended == 1);
  billcore_call_options_free(call);
  billcore_client_free(other);
}

static int gone; /* number of contexts that were released */

static void release(void* context) {
  CHECK(((record*)context)->text[0] != '\0'); /* the context is valid until its release */
  ++gone;
}

static bool at_once(void* context) {
  (void)context;
  return true;
}

/* A client made by billcore_client_with_options has its own hook, and a call has its own interrupt. */
static void test_of_changes_and_of_a_call(const server* at) {
  record of_client = {""};
  record of_other = {""};
  billcore_client* client = client_with(at, note, &of_client);
  billcore_client* other = NULL;
  billcore_client_changes* changes = NULL;
  billcore_call_options* call = NULL;
  billcore_order* order = NULL;
  CHECK_OK(billcore_client_changes_new(&changes, &err));
  CHECK_OK(billcore_client_changes_set_hook(changes, note, &of_other, release, &err));
  CHECK_OK(billcore_client_with_options(client, changes, &other, &err));
  billcore_client_changes_free(changes);
  get(other, NULL);
  CHECK(gone == 0 && of_client.text[0] == '\0' && strstr(of_other.text, "2: GET ") != NULL);
  CHECK_OK(billcore_call_options_new(&call, &err));
  CHECK_OK(billcore_call_options_set_interrupt(call, at_once, &of_other, release, &err));
  CHECK_FAILS(billcore_subscription_charge(other, BILLCORE_STR("held"), 1, 500, NULL, call, &order, &err),
              BILLCORE_ERROR_INTERRUPTED, "may or may not have happened");
  billcore_call_options_free(call);
  CHECK(gone == 1);
  get(other, NULL); /* a call without the interrupt succeeds */

  /* A list uses the interrupt of its call options until the list is freed. */
  CHECK_OK(billcore_call_options_new(&call, &err));
  CHECK_OK(billcore_call_options_set_interrupt(call, at_once, &of_other, release, &err));
  billcore_order_list* list = NULL;
  CHECK_OK(billcore_subscription_orders_new(other, BILLCORE_STR("held"), NULL, call, &list, &err));
  billcore_call_options_free(call);
  CHECK(gone == 1);
  billcore_client_free(other);
  CHECK(gone == 1);
  billcore_status status = BILLCORE_OK;
  while (status == BILLCORE_OK) {
    status = billcore_order_list_next(list, &order, &err);
    billcore_order_free(order);
  }
  CHECK(status == BILLCORE_ERROR_INTERRUPTED);
  billcore_error_free(err);
  err = NULL;
  billcore_order_list_free(list);
  CHECK(gone == 3 && of_client.text[0] == '\0');
  billcore_client_free(client);
}

static sem_t entered, released;

/* A hook that blocks the first call until `released` is posted. */
static void hold(void* context, const billcore_attempt* attempt) {
  _Atomic int* calls = context;
  if (attempt->moment != BILLCORE_MOMENT_REQUEST || (*calls)++ > 0) return;
  sem_post(&entered);
  sem_wait(&released);
}

static void* call_held(void* client) {
  get(client, NULL);
  return NULL;
}

/* A hook that does not return blocks only its own call. */
static void test_one_that_does_not_return(const server* at) {
  _Atomic int calls = 0;
  pthread_t thread;
  billcore_client* client = client_with(at, hold, &calls);
  CHECK(sem_init(&entered, 0, 0) == 0 && sem_init(&released, 0, 0) == 0);
  CHECK(pthread_create(&thread, NULL, call_held, client) == 0);
  sem_wait(&entered);
  for (int i = 0; i < 3; ++i) get(client, NULL);
  sem_post(&released);
  CHECK(pthread_join(thread, NULL) == 0 && calls == 4);
  billcore_client_free(client);
}

int main(void) {
  server* at = server_start(answer);
  test_what_they_are_told(at);
  test_each_attempt_ends_once(at);
  test_a_call_at_the_end(at);
  test_of_changes_and_of_a_call(at);
  test_one_that_does_not_return(at);
  server_stop(at);
  return 0;
}
