/* Hooks by callback: what they are told, of a client and of a call; one that does not return. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "support/client.h"

static billcore_error* err;
static _Atomic int busy; /* answers of 503 that come first */

static const char* answer(const char* request) {
  if (strstr(request, "/order/gone") != NULL) return "";
  if (busy > 0 && busy-- > 0) return "HTTP/1.1 503 X\r\nRetry-After: 0" HEAD "{}";
  return "HTTP/1.1 200 OK" HEAD "{\"data\":" ORDER("o") "}";
}

typedef struct {
  char text[1024];
} record;

/* Writes down what it is told. */
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
  CHECK_OK(billcore_client_options_set_hook(options, hook, context, &err));
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

  /* That of a call counts instead of the client's. */
  billcore_call_options* call = NULL;
  of_client.text[0] = '\0';
  CHECK_OK(billcore_call_options_new(&call, &err));
  CHECK_OK(billcore_call_options_set_hook(call, note, &of_call, &err));
  get(client, call);
  CHECK(of_client.text[0] == '\0' && strstr(of_call.text, "2: GET ") != NULL);
  of_call.text[0] = '\0';
  CHECK_OK(billcore_call_options_set_hook(call, NULL, NULL, &err));
  get(client, call);
  CHECK(of_call.text[0] == '\0' && strstr(of_client.text, "2: GET ") != NULL);
  billcore_call_options_free(call);

  /* Without an answer it is told why. */
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

static sem_t entered, released;

/* Holds the first call until it is released. */
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

/* A hook that does not return holds its own call, no other. */
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
  test_one_that_does_not_return(at);
  server_stop(at);
  return 0;
}
