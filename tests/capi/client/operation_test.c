/* Tests operations as values: by their names, used once or often, and what they give up. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>

#include "support/loop.h"

/* The request that the server has seen last: its first line and its body. */
static char sent[600];
static pthread_mutex_t of_sent = PTHREAD_MUTEX_INITIALIZER;

static const char* last_request(void) {
  static char copy[sizeof sent];
  CHECK(pthread_mutex_lock(&of_sent) == 0);
  memcpy(copy, sent, sizeof sent);
  CHECK(pthread_mutex_unlock(&of_sent) == 0);
  return copy;
}

static const char* answer(const char* request) {
  const char* body = strstr(request, "\r\n\r\n");
  CHECK(pthread_mutex_lock(&of_sent) == 0);
  snprintf(sent, sizeof sent, "%.*s %s", (int)strcspn(request, "\r"), request, body + 4);
  CHECK(pthread_mutex_unlock(&of_sent) == 0);
  return usual_answer(request);
}

static void set_text(billcore_operation* to, const char* name, const char* text) {
  CHECK_OK(billcore_operation_set_text(to, billcore_str_from(name), billcore_str_from(text), &err));
}

static void set_int64(billcore_operation* to, const char* name, int64_t number) {
  CHECK_OK(billcore_operation_set_int64(to, billcore_str_from(name), number, &err));
}

static void set_json(billcore_operation* to, const char* name, const char* json) {
  CHECK_OK(billcore_operation_set_json(to, billcore_str_from(name), billcore_str_from(json), &err));
}

static void test_a_charge(const billcore_client* client) {
  static const char request[] =
      "POST /acct/subscription/s/order HTTP/1.1 {\"product_id\":7,\"amount\":1500,\"vat\":2500,"
      "\"description\":\"set-up\"}";
  billcore_charge_options* options = NULL;
  billcore_order* order = NULL;
  billcore_subscription* other = NULL;
  billcore_response* response = NULL;
  billcore_result* result = NULL;
  billcore_operation* charge = make_charge("s");
  set_text(charge, "description", "set-up");
  set_int64(charge, "vat", 2500);
  CHECK_OK(billcore_client_perform(client, charge, NULL, &result, &err));
  CHECK(strcmp(last_request(), request) == 0 || (fputs(last_request(), stderr), false));
  CHECK(billcore_result_kind_of(result) == BILLCORE_RESULT_ORDER);
  CHECK_INVALID(billcore_result_take_subscription(&result, &other, &err), "of another kind");
  CHECK_INVALID(billcore_result_take_response(&result, &response, &err), "of another kind");
  CHECK_OK(billcore_result_take_order(&result, &order, &err));
  CHECK(result == NULL);
  expect_id(order, "o");
  CHECK_INVALID(billcore_result_take_order(&result, &order, &err), "NULL");

  /* The typed function sends the same. */
  CHECK_OK(billcore_charge_options_new(&options, &err));
  CHECK_OK(billcore_charge_options_set_vat(options, 2500, &err));
  CHECK_OK(billcore_charge_options_set_description(options, BILLCORE_STR("set-up"), &err));
  CHECK_OK(billcore_subscription_charge(client, BILLCORE_STR("s"), 7, 1500, options, NULL, &order, &err));
  const int before = requests;
  CHECK(before == 2 && strcmp(last_request(), request) == 0);
  billcore_order_free(order);

  /* The same write is not sent twice, and nothing about it changes. */
  CHECK_INVALID(billcore_client_perform(client, charge, NULL, &result, &err), "send it twice");
  CHECK_INVALID(billcore_operation_set_int64(charge, BILLCORE_STR("amount"), 1, &err), "was used");
  CHECK_INVALID(billcore_operation_set_options(charge, NULL, &err), "was used");
  billcore_operation_free(charge);

  /* A call that is refused before it is sent leaves a write as it was. */
  charge = make_charge("s");
  CHECK_INVALID(billcore_client_perform(client, charge, NULL, NULL, &err), "an output is NULL");
  CHECK_INVALID(
      billcore_client_perform(client, charge, (const billcore_call_options*)(const void*)options, &result, &err),
      "of another kind");
  CHECK(requests == before);
  CHECK_OK(billcore_client_perform(client, charge, NULL, &result, &err));
  CHECK(requests == before + 1);
  billcore_result_free(result);
  billcore_operation_free(charge);
  billcore_charge_options_free(options);
}

static void test_fields_of_a_product(const billcore_client* client) {
  billcore_result* result = NULL;
  billcore_operation* operation = make("products.update", NULL);
  set_int64(operation, "id", 7);
  set_text(operation, "name", "n");
  set_json(operation, "vat_rate", "12.50");
  CHECK_OK(billcore_operation_set_null(operation, BILLCORE_STR("description"), &err));
  CHECK_OK(billcore_client_perform(client, operation, NULL, &result, &err));
  CHECK(strstr(last_request(), "{\"name\":\"n\",\"vat_rate\":12.50,\"description\":null}") != NULL);
  billcore_result_free(result);
  billcore_operation_free(operation);
}

static void test_a_list(const billcore_client* client) {
  billcore_list* list = NULL;
  billcore_result* result = NULL;
  billcore_resource* item = NULL;
  billcore_operation* orders = make("subscriptions.orders", NULL);
  CHECK_INVALID(billcore_client_list(client, orders, NULL, &list, &err), "needs id");
  set_text(orders, "id", "s");
  CHECK_OK(billcore_operation_add_text(orders, BILLCORE_STR("state"), BILLCORE_STR("draft"), &err));
  set_text(orders, "state", "paid"); /* replaces it */
  CHECK_OK(billcore_operation_add_text(orders, BILLCORE_STR("state"), BILLCORE_STR("failed"), &err));
  CHECK_OK(billcore_operation_set_bool(orders, BILLCORE_STR("strict"), true, &err));
  CHECK_INVALID(billcore_client_perform(client, orders, NULL, &result, &err), "billcore_client_list");
  for (int again = 0; again < 2; ++again) { /* a list is a read: the operation makes any number of them */
    CHECK_OK(billcore_client_list(client, orders, NULL, &list, &err));
    CHECK_OK(billcore_list_next(list, &item, &err));
    CHECK(strstr(last_request(), "state%5D=paid%2Cfailed") != NULL);
    billcore_resource_free(item);
    billcore_list_free(list);
  }
  billcore_operation_free(orders);
  orders = make("orders.get", NULL);
  CHECK_INVALID(billcore_client_list(client, orders, NULL, &list, &err), "not a list");
  billcore_operation_free(orders);
}

static void test_names_and_types(const billcore_client* client) {
  billcore_operation* out = NULL;
  billcore_result* result = NULL;
  CHECK_INVALID(billcore_operation_new(BILLCORE_STR("subscription.charge"), &out, &err),
                "no operation 'subscription.charge': the nearest is 'subscriptions.charge'");
  CHECK(out == NULL);
  out = make("subscriptions.charge", NULL);
  CHECK_INVALID(billcore_operation_set_int64(out, BILLCORE_STR("amounts"), 1, &err),
                "subscriptions.charge has no argument 'amounts': the nearest is 'amount'");
  CHECK_INVALID(billcore_operation_set_int64(out, BILLCORE_STR("a\0b\n"), 1, &err), "no argument 'a?b?'");
  CHECK_INVALID(billcore_operation_set_text(out, BILLCORE_STR("amount"), BILLCORE_STR("1"), &err),
                "amount has another type: use billcore_operation_set_int64");
  CHECK_INVALID(billcore_operation_set_null(out, BILLCORE_STR("description"), &err), "billcore_operation_set_text");
  CHECK_INVALID(billcore_operation_add(out, BILLCORE_STR("query"), BILLCORE_STR("k"), BILLCORE_STR("v"), &err),
                "no argument 'query'");
  set_text(out, "id", "s");
  CHECK_INVALID(billcore_client_perform(client, out, NULL, &result, &err),
                "subscriptions.charge needs product_id: set it with billcore_operation_set_int64");
  billcore_operation_free(out);
}

typedef struct reader {
  const billcore_client* client;
  billcore_operation* operation;
} reader;

static void* read_often(void* context) {
  const reader* self = context;
  for (int i = 0; i < 5; ++i) {
    billcore_result* result = NULL;
    CHECK(billcore_client_perform(self->client, self->operation, NULL, &result, NULL) == BILLCORE_OK);
    billcore_result_free(result);
  }
  return NULL;
}

/* Threads and clients share a read. */
static void test_a_shared_read(const billcore_client* client) {
  billcore_client* second = NULL;
  pthread_t threads[2];
  billcore_operation* read = make_get("o");
  CHECK_OK(billcore_client_with_options(client, NULL, &second, &err));
  reader readers[2] = {{client, read}, {second, read}};
  const int before = requests;
  for (int i = 0; i < 2; ++i) CHECK(pthread_create(&threads[i], NULL, read_often, &readers[i]) == 0);
  for (int i = 0; i < 2; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(requests == before + 10);
  billcore_operation_free(read);
  billcore_client_free(second);
}

int main(void) {
  server* at = server_start(answer);
  billcore_client* client = client_of(at);
  test_a_charge(client);
  test_fields_of_a_product(client);
  test_a_list(client);
  test_names_and_types(client);
  test_a_shared_read(client);
  billcore_client_free(client);
  server_stop(at);
  return 0;
}
