/* A program compiled with the headers of an older version and linked with today's libraries. The accessors are inline
 * functions, so the program contains their old code, and no list of symbols shows whether that code still works.
 * STORED_HEADER is in capi/abi; no current header is included. make_stored_calls.py writes STORED_CALLS. */
#include STORED_HEADER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/server.h"

static billcore_error* err;

#define HEAD "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))
#define OK(call) ok(#call, call)
/* Calls a setter of an option. The setter may refuse the value, but it must accept the name of the option. */
#define SET(call) set(#call, call)
#define REFUSED(call) refused(#call, call)
#define LOCALS                   \
  billcore_str text = {NULL, 0}; \
  billcore_value* value = NULL;  \
  billcore_response_info* info;  \
  int64_t number = -1;           \
  size_t count = 99;             \
  bool flag = false;             \
  bool present = false;          \
  (void)text, (void)value, (void)info, (void)number, (void)count, (void)flag, (void)present;

static void fail(const char* what, int line) {
  fprintf(stderr, "%d: %s\n", line, what);
  exit(1);
}

static void ok(const char* call, billcore_status status) {
  if (status == BILLCORE_OK) return;
  fprintf(stderr, "%s: %s\n", call, billcore_error_message(err).data);
  exit(1);
}

static void set(const char* call, billcore_status status) {
  const char* message = billcore_error_message(err).data;
  if (status != BILLCORE_OK && (status != BILLCORE_ERROR_INVALID_ARGUMENT || strstr(message, "no such option") != NULL))
    ok(call, status);
  billcore_error_free(err);
  err = NULL;
}

static void refused(const char* call, billcore_status status) {
  if (status != BILLCORE_ERROR_INVALID_ARGUMENT) ok(call, status == BILLCORE_OK ? BILLCORE_ERROR_INTERNAL : status);
  billcore_error_free(err);
  err = NULL;
}

static void text_is(const char* call, billcore_str text, const char* expected) {
  if (text.len == strlen(expected) && memcmp(text.data, expected, text.len) == 0) return;
  fprintf(stderr, "%s: %.*s, not %s\n", call, (int)text.len, text.data, expected);
  exit(1);
}

static void json_is(const char* call, const billcore_value* value, const char* expected) {
  billcore_str text;
  OK(billcore_value_raw(value, &text, &err));
  text_is(call, text, expected);
}

static billcore_event* event_of(const char* body) {
  billcore_event* out;
  OK(billcore_webhook_parse_unverified(billcore_str_from(body), &out, &err));
  return out;
}

static billcore_subscription_list* new_subscription_list(const billcore_client* client) {
  billcore_subscription_list* out;
  OK(billcore_subscription_list_new(client, NULL, NULL, &out, &err));
  return out;
}

static billcore_order_list* new_order_list(const billcore_client* client) {
  billcore_order_list* out;
  OK(billcore_subscription_orders_new(client, BILLCORE_STR("s"), NULL, NULL, &out, &err));
  return out;
}

static billcore_product_list* new_product_list(const billcore_client* client) {
  billcore_product_list* out;
  OK(billcore_product_list_new(client, NULL, NULL, &out, &err));
  return out;
}

#include STORED_CALLS

static const char* answer(const char* request) {
  if (strstr(request, "/products") != NULL) return product_answer;
  return strstr(request, "/orders") != NULL ? order_answer : subscription_answer;
}

int main(void) {
  server* at = server_start(answer);
  billcore_client_options* options;
  billcore_client* client;
  OK(billcore_client_options_new(&options, &err));
  OK(billcore_client_options_set_base_url(options, billcore_str_from(server_url(at)), &err));
  OK(billcore_client_options_set_api_key(options, BILLCORE_STR("key"), &err));
  OK(billcore_client_new(options, &client, &err));
  billcore_client_options_free(options);
  read_events();
  READ_LISTS(client)
  set_options();
  (void)refused; /* avoids a warning if the generated call_the_rest() does not use `refused` */
  call_the_rest();
  billcore_client_free(client);
  server_stop(at);
  return 0;
}
