/* Tests operations as values: by their names, used once or often, and what they give up. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdatomic.h>

#include "support/client.h"

static billcore_error* err;
static const billcore_status invalid = BILLCORE_ERROR_INVALID_ARGUMENT;

/* What the server was sent: first lines and bodies. Only its thread writes, before it answers. */
static char sent[64][600];
static atomic_int requests;

static const char* answer(const char* request) {
  const char* body = strstr(request, "\r\n\r\n");
  const int line = (int)strcspn(request, "\r");
  snprintf(sent[requests], sizeof sent[0], "%.*s %s", line, request, body + 4);
  requests = (requests + 1) % 64;
  if (strncmp(request, "DELETE", 6) == 0) return "HTTP/1.1 204 No Content" HEAD;
  if (strstr(request, "page=") != NULL)
    return "HTTP/1.1 200 OK" HEAD "{\"data\":[" ORDER("a") "],\"pagination\":{\"total\":1,\"count\":1,\"per_page\":1,"
           "\"current_page\":1,\"total_pages\":1,\"links\":{}}}";
  return "HTTP/1.1 200 OK" HEAD "{\"data\":" ORDER("o1") "}";
}

static billcore_operation* make(const char* name) {
  billcore_operation* out = NULL;
  CHECK_OK(billcore_operation_new(billcore_str_from(name), &out, &err));
  return out;
}

static void set_id(billcore_operation* to, const char* id) {
  CHECK_OK(billcore_operation_set_text(to, BILLCORE_STR("id"), billcore_str_from(id), &err));
}

static billcore_operation* make_charge(int64_t amount) {
  billcore_operation* out = make("subscriptions.charge");
  set_id(out, "s");
  CHECK_OK(billcore_operation_set_int64(out, BILLCORE_STR("product_id"), 7, &err));
  CHECK_OK(billcore_operation_set_int64(out, BILLCORE_STR("amount"), amount, &err));
  return out;
}

/* The last two requests are the same. */
static void check_same(void) {
  CHECK(requests >= 2);
  CHECK(strcmp(sent[requests - 1], sent[requests - 2]) == 0);
}

static void test_a_charge(const billcore_client* client) {
  billcore_charge_options* options = NULL;
  billcore_order* order = NULL;
  billcore_order* typed = NULL;
  billcore_subscription* other = NULL;
  billcore_response* response = NULL;
  billcore_result* result = NULL;
  billcore_str id;
  billcore_operation* charge = make_charge(1500);
  CHECK_OK(billcore_operation_set_text(charge, BILLCORE_STR("description"), BILLCORE_STR("set-up"), &err));
  CHECK_OK(billcore_operation_set_int64(charge, BILLCORE_STR("vat"), 2500, &err));
  CHECK_OK(billcore_client_perform(client, charge, NULL, &result, &err));
  CHECK(billcore_result_kind_of(result) == BILLCORE_RESULT_ORDER);
  CHECK_FAILS(billcore_result_take_subscription(&result, &other, &err), invalid, "of another kind");
  CHECK_FAILS(billcore_result_take_response(&result, &response, &err), invalid, "of another kind");
  CHECK_OK(billcore_result_take_order(&result, &order, &err));
  CHECK(result == NULL);
  CHECK_FAILS(billcore_result_take_order(&result, &typed, &err), invalid, "NULL");
  CHECK_OK(billcore_order_id(order, &id, NULL, &err));
  CHECK(is_text(id, "o1"));

  /* The typed function sends the same. */
  CHECK_OK(billcore_charge_options_new(&options, &err));
  CHECK_OK(billcore_charge_options_set_vat(options, 2500, &err));
  CHECK_OK(billcore_charge_options_set_description(options, BILLCORE_STR("set-up"), &err));
  CHECK_OK(billcore_subscription_charge(client, BILLCORE_STR("s"), 7, 1500, options, NULL, &typed, &err));
  check_same();

  /* The same write is not sent twice, and nothing about it changes. */
  const int before = requests;
  CHECK_FAILS(billcore_client_perform(client, charge, NULL, &result, &err), invalid, "send it twice");
  CHECK_FAILS(billcore_operation_set_int64(charge, BILLCORE_STR("amount"), 1, &err), invalid, "was used");
  CHECK_FAILS(billcore_operation_set_options(charge, NULL, &err), invalid, "was used");
  billcore_operation_free(charge);

  /* A call that is refused before it is sent leaves a write as it was. */
  charge = make_charge(1);
  CHECK_FAILS(billcore_client_perform(client, charge, NULL, NULL, &err), invalid, "an output is NULL");
  CHECK_FAILS(
      billcore_client_perform(client, charge, (const billcore_call_options*)(const void*)options, &result, &err),
      invalid, "of another kind");
  CHECK(requests == before);
  CHECK_OK(billcore_client_perform(client, charge, NULL, &result, &err));
  CHECK(requests == before + 1);
  billcore_result_free(result);
  billcore_operation_free(charge);
  billcore_charge_options_free(options);
  billcore_order_free(order);
  billcore_order_free(typed);
}

static void test_results_of_other_kinds(const billcore_client* client) {
  billcore_result* result = NULL;
  billcore_response* response = NULL;
  billcore_operation* operation = make("products.delete");
  CHECK_OK(billcore_operation_set_int64(operation, BILLCORE_STR("id"), 7, &err));
  CHECK_OK(billcore_client_perform(client, operation, NULL, &result, &err));
  CHECK(result == NULL && billcore_result_kind_of(result) == BILLCORE_RESULT_NONE);
  billcore_operation_free(operation);

  operation = make("request");
  CHECK_OK(billcore_operation_set_text(operation, BILLCORE_STR("method"), BILLCORE_STR("POST"), &err));
  CHECK_OK(billcore_operation_set_text(operation, BILLCORE_STR("path"), BILLCORE_STR("/x"), &err));
  CHECK_OK(billcore_operation_set_json(operation, BILLCORE_STR("json"), BILLCORE_STR("{\"a\":1.50}"), &err));
  CHECK_OK(billcore_operation_add(operation, BILLCORE_STR("query"), BILLCORE_STR("k"), BILLCORE_STR("v w"), &err));
  CHECK_OK(billcore_operation_set_bool(operation, BILLCORE_STR("raise_on_error"), false, &err));
  CHECK_OK(billcore_client_perform(client, operation, NULL, &result, &err));
  CHECK(strcmp(sent[requests - 1], "POST /acct/x?k=v%20w HTTP/1.1 {\"a\":1.50}") == 0);
  CHECK_OK(billcore_result_take_response(&result, &response, &err));
  billcore_response_free(response);
  billcore_operation_free(operation);

  operation = make("products.update");
  CHECK_OK(billcore_operation_set_int64(operation, BILLCORE_STR("id"), 7, &err));
  CHECK_OK(billcore_operation_set_text(operation, BILLCORE_STR("name"), BILLCORE_STR("n"), &err));
  CHECK_OK(billcore_operation_set_json(operation, BILLCORE_STR("vat_rate"), BILLCORE_STR("12.50"), &err));
  CHECK_OK(billcore_operation_set_null(operation, BILLCORE_STR("description"), &err));
  CHECK_OK(billcore_client_perform(client, operation, NULL, &result, &err));
  CHECK(strstr(sent[requests - 1], "{\"name\":\"n\",\"vat_rate\":12.50,\"description\":null}") != NULL);
  billcore_result_free(result);
  billcore_operation_free(operation);
}

static void test_a_list(const billcore_client* client) {
  billcore_list* list = NULL;
  billcore_result* result = NULL;
  billcore_resource* item = NULL;
  billcore_operation* orders = make("subscriptions.orders");
  CHECK_FAILS(billcore_client_list(client, orders, NULL, &list, &err), invalid, "needs id");
  set_id(orders, "s");
  CHECK_OK(billcore_operation_add_text(orders, BILLCORE_STR("state"), BILLCORE_STR("draft"), &err));
  CHECK_OK(billcore_operation_set_text(orders, BILLCORE_STR("state"), BILLCORE_STR("paid"), &err)); /* replaces it */
  CHECK_OK(billcore_operation_add_text(orders, BILLCORE_STR("state"), BILLCORE_STR("failed"), &err));
  CHECK_OK(billcore_operation_set_bool(orders, BILLCORE_STR("strict"), true, &err));
  CHECK_FAILS(billcore_client_perform(client, orders, NULL, &result, &err), invalid, "billcore_client_list");
  for (int again = 0; again < 2; ++again) { /* a list is a read: the operation makes any number of them */
    CHECK_OK(billcore_client_list(client, orders, NULL, &list, &err));
    CHECK_OK(billcore_list_next(list, &item, &err));
    CHECK(strstr(sent[requests - 1], "state%5D=paid%2Cfailed") != NULL);
    billcore_resource_free(item);
    billcore_list_free(list);
  }
  billcore_operation_free(orders);
  orders = make("orders.get");
  CHECK_FAILS(billcore_client_list(client, orders, NULL, &list, &err), invalid, "not a list");
  billcore_operation_free(orders);
}

static void test_names_and_types(const billcore_client* client) {
  billcore_operation* out = NULL;
  billcore_result* result = NULL;
  CHECK_FAILS(billcore_operation_new(BILLCORE_STR("subscription.charge"), &out, &err), invalid,
              "no operation 'subscription.charge': the nearest is 'subscriptions.charge'");
  CHECK_FAILS(billcore_operation_new(BILLCORE_STR(""), &out, &err), invalid, "no operation ''");
  CHECK(out == NULL);
  out = make("subscriptions.charge");
  CHECK_FAILS(billcore_operation_set_int64(out, BILLCORE_STR("amounts"), 1, &err), invalid,
              "subscriptions.charge has no argument 'amounts': the nearest is 'amount'");
  CHECK_FAILS(billcore_operation_set_int64(out, BILLCORE_STR("a\0b\n"), 1, &err), invalid,
              "subscriptions.charge has no argument 'a?b?': the nearest is");
  CHECK_FAILS(billcore_operation_set_text(out, BILLCORE_STR("amount"), BILLCORE_STR("1"), &err), invalid,
              "amount has another type: use billcore_operation_set_int64");
  CHECK_FAILS(billcore_operation_set_null(out, BILLCORE_STR("description"), &err), invalid,
              "billcore_operation_set_text");
  CHECK_FAILS(billcore_operation_add(out, BILLCORE_STR("query"), BILLCORE_STR("k"), BILLCORE_STR("v"), &err), invalid,
              "no argument 'query'");
  CHECK_FAILS(billcore_client_perform(client, out, NULL, &result, &err), invalid, "needs id");
  set_id(out, "s");
  CHECK_FAILS(billcore_client_perform(client, out, NULL, &result, &err), invalid,
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
    billcore_error* failed = NULL;
    CHECK(billcore_client_perform(self->client, self->operation, NULL, &result, &failed) == BILLCORE_OK);
    billcore_result_free(result);
  }
  return NULL;
}

/* Threads and clients share a read. */
static void test_a_shared_read(billcore_client* client) {
  billcore_client* second = NULL;
  pthread_t threads[2];
  CHECK_OK(billcore_client_with_options(client, NULL, &second, &err));
  reader readers[2] = {{client, make("orders.get")}, {second, NULL}};
  readers[1].operation = readers[0].operation;
  set_id(readers[0].operation, "o1");
  const int before = requests;
  for (int i = 0; i < 2; ++i) CHECK(pthread_create(&threads[i], NULL, read_often, &readers[i]) == 0);
  for (int i = 0; i < 2; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(requests == before + 10);
  billcore_operation_free(readers[0].operation);
  billcore_client_free(second);
}

int main(void) {
  server* at = server_start(answer);
  billcore_client* client = client_of(at, "key", NULL, NULL);
  test_a_charge(client);
  test_results_of_other_kinds(client);
  test_a_list(client);
  test_names_and_types(client);
  test_a_shared_read(client);
  billcore_client_free(client);
  server_stop(at);
  return 0;
}
