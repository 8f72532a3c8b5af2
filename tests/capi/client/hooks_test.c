/* Tests the hooks and interrupts of clients, their changes and calls: what a hook is told, which one is called, and
 * when its context is released. The C++ tests check that each attempt ends once. */
#include "support/client.h"

static atomic_int failures; /* number of further requests to answer with 503 */

static const char* answer(const char* request) {
  if (failures > 0 && failures-- > 0) return "HTTP/1.1 503 X\r\nRetry-After: 0" HEAD "{}";
  return usual_answer(request);
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
  CHECK(attempt->request_id.data != NULL);
  snprintf(self->text + used, sizeof self->text - used, "%d: %.*s %.*s %d %d %s %.*s%s%s %s\n", (int)attempt->moment,
           (int)attempt->method.len, attempt->method.data, (int)attempt->route.len, attempt->route.data,
           (int)attempt->number, (int)attempt->status, billcore_status_name(attempt->failure),
           (int)attempt->request_id.len, attempt->request_id.data, attempt->sent ? " sent" : "",
           attempt->outcome_unknown ? " unknown" : "", attempt->path.data);
}

/* Checks the record, and empties it. */
static void expect(record* self, const char* text) {
  CHECK(strcmp(self->text, text) == 0 || (fputs(self->text, stderr), false));
  self->text[0] = '\0';
}

#define GOT "1: GET /order/{id} 1 0 OK  \n2: GET /order/{id} 1 200 OK req-7 sent \n"
#define CHARGED "1: POST /subscription/{id}/order 1 0 OK  \n2: POST /subscription/{id}/order 1 "

static billcore_client* client_that_notes(const server* at, billcore_hook hook, void* context) {
  billcore_client_options* options = options_for(at);
  CHECK_OK(billcore_client_options_set_hook(options, hook, context, NULL, &err));
  return client_with(options);
}

static atomic_int wanted; /* the interrupt ends a call when the server has seen this many requests */

static bool is_asked(void* context) {
  (void)context;
  return requests >= wanted;
}

static void test_what_they_are_told(const server* at) {
  record of_client = {""};
  record of_call = {""};
  billcore_client* client = client_that_notes(at, note, &of_client);
  failures = 1;
  CHECK_OK(get(client, "o", NULL));
  expect(&of_client,
         "1: GET /order/{id} 1 0 OK  \n"
         "2: GET /order/{id} 1 503 OK req-7 sent \n"
         "3: GET /order/{id} 1 503 OK req-7 sent \n"
         "1: GET /order/{id} 2 0 OK  \n"
         "2: GET /order/{id} 2 200 OK req-7 sent \n");
  CHECK_FAILS(charge(client, "refused", NULL), BILLCORE_ERROR_PAYMENT, "");
  expect(&of_client, CHARGED "402 OK req-7 sent \n");
  CHECK_FAILS(charge(client, "lost", NULL), BILLCORE_ERROR_OUTCOME_UNKNOWN, "");
  expect(&of_client, CHARGED "0 CONNECTION  sent unknown \n");
  billcore_call_options* call = new_call_options();
  CHECK_OK(billcore_call_options_set_interrupt(call, is_asked, NULL, NULL, &err));
  wanted = requests + 1;
  CHECK_FAILS(charge(client, "held", call), BILLCORE_ERROR_INTERRUPTED, "may or may not have happened");
  expect(&of_client, CHARGED "0 INTERRUPTED  sent unknown /subscription/held/order\n");
  billcore_call_options_free(call);

  /* The hook of a call replaces the client's hook. */
  call = new_call_options();
  CHECK_OK(billcore_call_options_set_hook(call, note, &of_call, NULL, &err));
  CHECK_OK(get(client, "o", call));
  expect(&of_client, "");
  expect(&of_call, GOT);
  CHECK_OK(billcore_call_options_set_hook(call, NULL, NULL, NULL, &err));
  CHECK_OK(get(client, "o", call));
  expect(&of_client, GOT);
  expect(&of_call, "");
  billcore_call_options_free(call);
  billcore_client_free(client);
}

static int gone; /* number of contexts that were released */

static void release(void* context) {
  CHECK(((record*)context)->text[0] != '\0'); /* the context is valid until its release */
  ++gone;
}

/* A client made by billcore_client_with_options has its own hook, which the library releases with the client. A list
 * calls the interrupt callback of its call options, which the library keeps until the program frees the list. */
static void test_lifetimes(const server* at) {
  record of_client = {""};
  record of_other = {""};
  billcore_client* client = client_that_notes(at, note, &of_client);
  billcore_client* other = NULL;
  billcore_client_changes* changes = NULL;
  billcore_order* order = NULL;
  CHECK_OK(billcore_client_changes_new(&changes, &err));
  CHECK_OK(billcore_client_changes_set_hook(changes, note, &of_other, release, &err));
  CHECK_OK(billcore_client_with_options(client, changes, &other, &err));
  billcore_client_changes_free(changes);
  CHECK_OK(get(other, "o", NULL));
  CHECK(gone == 0 && of_client.text[0] == '\0' && strcmp(of_other.text, GOT) == 0);

  billcore_call_options* call = new_call_options();
  CHECK_OK(billcore_call_options_set_interrupt(call, is_asked, &of_other, release, &err));
  billcore_order_list* list = orders_of(other, "held", call);
  billcore_call_options_free(call);
  billcore_client_free(other);
  CHECK(gone == 0);
  CHECK_FAILS(billcore_order_list_next(list, &order, &err), BILLCORE_ERROR_INTERRUPTED, "page=1");
  billcore_order_list_free(list);
  CHECK(gone == 2 && of_client.text[0] == '\0');
  billcore_client_free(client);
}

int main(void) {
  server* at = server_start(answer);
  test_what_they_are_told(at);
  test_lifetimes(at);
  server_stop(at);
  return 0;
}
