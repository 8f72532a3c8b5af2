/* Tests the client against a small server: results, errors, handles that libbillcore and libbillcore-webhook share,
 * and threads. pager_test.c tests lists; the conformance tests check what the client sends. */
#define _POSIX_C_SOURCE 200809L

#include "support/client.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "support/events.h"

static _Atomic int busy; /* number of requests for the order "busy"; they fail without the header X-Tenant */

static const char* answer(const char* request) {
  if (strncmp(request, "GET /acct/order/o1 ", 19) == 0) return "HTTP/1.1 200 OK" HEAD "{\"data\":" ORDER("o1") "}";
  if (strstr(request, "/slow") != NULL) return NULL;
  if (strstr(request, "POST /acct/subscription/s1/order ") != NULL) {
    return "HTTP/1.1 402 Payment Required\r\nRetry-After: 7" HEAD
           "{\"error\":{\"code\":\"card_declined\",\"message\":\"The card was declined\"}}";
  }
  if (strncmp(request, "POST /acct/subscription/s2/order ", 33) == 0) return "";
  if (strncmp(request, "POST /acct/thing?a=%26 ", 23) == 0) return "HTTP/1.1 409 Conflict" HEAD "{\"x\":[1]}";
  if (strncmp(request, "GET /acct/order/busy ", 21) == 0) {
    ++busy;
    return strstr(request, "X-Tenant: 7") != NULL ? "HTTP/1.1 200 OK" HEAD "{\"data\":" ORDER("busy") "}"
                                                  : "HTTP/1.1 503 Service Unavailable" HEAD "null";
  }
  return "HTTP/1.1 404 Not Found" HEAD "null";
}

/* libbillcore makes the order, libbillcore-webhook reads, copies and frees it. */
static void test_order_across_libraries(const billcore_client* client) {
  billcore_error* err = NULL;
  billcore_order* order = NULL;
  billcore_order* copy = NULL;
  billcore_response_info* info = NULL;
  billcore_str text;
  bool flag;
  int32_t number;
  size_t count;

  CHECK_OK(billcore_order_get(client, BILLCORE_STR("o1"), NULL, &order, &err));
  CHECK_OK(billcore_order_id(order, &text, &flag, &err));
  CHECK(is_text(text, "o1") && !flag);
  CHECK_OK(billcore_order_response_info(order, &info, &flag, &err));
  CHECK(flag);
  CHECK_OK(billcore_order_copy(order, &copy, &err));
  billcore_order_free(order);
  CHECK_OK(billcore_order_state(copy, &text, &err));
  CHECK(is_text(text, "paid"));
  billcore_order_free(copy);

  CHECK_OK(billcore_response_info_status(info, &number, &err));
  CHECK(number == 200);
  CHECK_OK(billcore_response_info_attempts(info, &number, &err));
  CHECK(number == 1);
  CHECK_OK(billcore_response_info_request_id(info, &text, &err));
  CHECK(is_text(text, "req-7"));
  CHECK_OK(billcore_response_info_header_count(info, &count, &err));
  CHECK(count == 3);
  CHECK_OK(billcore_response_info_header_at(info, 0, &text, &text, &err));
  CHECK_FAILS(billcore_response_info_header_at(info, 3, &text, &text, &err), BILLCORE_ERROR_INVALID_ARGUMENT,
              "no item 3");
  CHECK_OK(billcore_response_info_header(info, BILLCORE_STR("CONTENT-type"), &text, &flag, &err));
  CHECK(flag && is_text(text, "application/json"));
  CHECK_OK(billcore_response_info_header(info, BILLCORE_STR("etag"), &text, &flag, &err));
  CHECK(!flag && text.data == NULL);
  billcore_response_info_free(info);
}

static void test_errors(const billcore_client* client) {
  billcore_error* err = NULL;
  billcore_order* order = NULL;
  billcore_subscription* subscription = NULL;
  billcore_product* product = NULL;
  billcore_product_changes* changes = NULL;
  billcore_call_options* soon = NULL;
  double seconds;
  int64_t when;

  CHECK(billcore_subscription_charge(client, BILLCORE_STR("s1"), 1, 100, NULL, NULL, &order, &err) ==
        BILLCORE_ERROR_PAYMENT);
  CHECK(order == NULL && billcore_error_http_status(err) == 402);
  CHECK(is_text(billcore_error_api_code(err), "card_declined"));
  CHECK(is_text(billcore_error_api_message(err), "The card was declined"));
  CHECK(is_text(billcore_error_request_id(err), "req-7") && is_text(billcore_error_method(err), "POST"));
  CHECK(is_text(billcore_error_path(err), "/subscription/s1/order") && billcore_error_attempts(err) == 1);
  CHECK(billcore_error_retry_after(err, &seconds) && seconds == 7);
  CHECK(!billcore_error_outcome_unknown(err) && !billcore_error_attempted_at(err, &when) && when == 0);
  CHECK(strstr(billcore_error_body(err).data, "card_declined") != NULL);
  billcore_error_free(err);

  /* The server receives the charge and closes the connection without an answer. */
  CHECK(billcore_subscription_charge(client, BILLCORE_STR("s2"), 1, 100, NULL, NULL, &order, &err) ==
        BILLCORE_ERROR_OUTCOME_UNKNOWN);
  CHECK(billcore_error_outcome_unknown(err) && billcore_error_cause(err) == BILLCORE_ERROR_CONNECTION);
  CHECK(billcore_error_attempted_at(err, &when) && when > INT64_C(1700000000000000));
  CHECK(billcore_error_cause_message(err).len > 0);
  billcore_error_free(err);
  CHECK(billcore_subscription_charge(client, BILLCORE_STR("s2"), 1, 100, NULL, NULL, &order, NULL) ==
        BILLCORE_ERROR_OUTCOME_UNKNOWN);

  CHECK_FAILS(billcore_subscription_get(client, BILLCORE_STR("none"), NULL, &subscription, &err),
              BILLCORE_ERROR_NOT_FOUND, "404");
  CHECK_FAILS(billcore_subscription_get(client, BILLCORE_STR(".."), NULL, &subscription, &err),
              BILLCORE_ERROR_INVALID_ARGUMENT, "id");
  CHECK_FAILS(billcore_product_get(client, 1, NULL, &product, &err), BILLCORE_ERROR_NOT_FOUND, "404");
  CHECK_FAILS(billcore_product_delete(client, 1, NULL, &err), BILLCORE_ERROR_NOT_FOUND, "404");

  CHECK_FAILS(billcore_product_update(client, 1, NULL, NULL, &product, &err), BILLCORE_ERROR_INVALID_ARGUMENT,
              "no fields");
  CHECK_OK(billcore_product_changes_new(&changes, &err));
  CHECK_FAILS(billcore_product_changes_set_vat_rate(changes, BILLCORE_STR("\"25\""), &err),
              BILLCORE_ERROR_INVALID_ARGUMENT, "vat_rate");
  CHECK_FAILS(billcore_product_changes_set_vat_rate(changes, BILLCORE_STR("2,5"), &err),
              BILLCORE_ERROR_INVALID_ARGUMENT, "");
  CHECK_FAILS(billcore_product_changes_set_json(changes, BILLCORE_STR("x"), BILLCORE_STR("{"), &err),
              BILLCORE_ERROR_INVALID_ARGUMENT, "");
  CHECK_FAILS(billcore_product_changes_set_name(changes, BILLCORE_STR("\xff"), &err), BILLCORE_ERROR_INVALID_ARGUMENT,
              "UTF-8");
  CHECK_OK(billcore_product_changes_set_vat_rate(changes, BILLCORE_STR("-12.50"), &err));
  CHECK_FAILS(billcore_product_update(client, 1, changes, NULL, &product, &err), BILLCORE_ERROR_NOT_FOUND, "404");
  billcore_product_changes_free(changes);

  CHECK_OK(billcore_call_options_new(&soon, &err));
  CHECK_OK(billcore_call_options_set_timeout_ms(soon, 50, &err));
  CHECK_FAILS(billcore_order_get(client, BILLCORE_STR("slow"), soon, &order, &err), BILLCORE_ERROR_TIMEOUT, "time-out");
  billcore_call_options_free(soon);
}

static void test_request(const billcore_client* client) {
  billcore_error* err = NULL;
  billcore_request_options* options = NULL;
  billcore_response* response = NULL;
  billcore_response_info* info = NULL;
  billcore_value* json = NULL;
  billcore_str text;
  bool present;
  int32_t status;
  size_t count;

  CHECK_OK(billcore_request_options_new(&options, &err));
  CHECK_OK(billcore_request_options_add_query(options, BILLCORE_STR("a"), BILLCORE_STR("&"), &err));
  CHECK_OK(billcore_request_options_set_json(options, BILLCORE_STR("{}"), &err));
  CHECK_FAILS(
      billcore_client_request(client, BILLCORE_STR("POST"), BILLCORE_STR("/thing"), options, NULL, &response, &err),
      BILLCORE_ERROR_CONFLICT, "409");
  CHECK(response == NULL);
  CHECK_OK(billcore_request_options_accept_all_statuses(options, &err));
  CHECK_OK(
      billcore_client_request(client, BILLCORE_STR("POST"), BILLCORE_STR("/thing"), options, NULL, &response, &err));
  billcore_request_options_free(options);
  CHECK_OK(billcore_response_status(response, &status, &err));
  CHECK(status == 409);
  CHECK_OK(billcore_response_body(response, &text, &err));
  CHECK(is_text(text, "{\"x\":[1]}"));
  CHECK_OK(billcore_response_header_count(response, &count, &err));
  CHECK(count == 3);
  CHECK_OK(billcore_response_header(response, BILLCORE_STR("X-REQUEST-ID"), &text, &present, &err));
  CHECK(present && is_text(text, "req-7"));
  CHECK_OK(billcore_response_json(response, &json, &err));
  CHECK_OK(billcore_response_get_info(response, &info, &err));
  billcore_response_free(response);
  CHECK_OK(billcore_value_raw(json, &text, &err));
  CHECK(is_text(text, "{\"x\":[1]}"));
  billcore_value_free(json);
  CHECK_OK(billcore_response_info_status(info, &status, &err));
  CHECK(status == 409);
  billcore_response_info_free(info);
}

static bool asked_often(void* context) { return ++*(int*)context > 2; }

static void test_interrupt_and_close(const server* at) {
  billcore_error* err = NULL;
  billcore_order* order = NULL;
  int asked = 0;
  billcore_client* client = client_of(at, "key", asked_often, &asked);
  CHECK_FAILS(billcore_order_get(client, BILLCORE_STR("slow"), NULL, &order, &err), BILLCORE_ERROR_INTERRUPTED,
              "interrupted");
  CHECK(asked == 3);
  billcore_client_free(client);

  client = client_of(at, "key", NULL, NULL);
  CHECK_OK(billcore_client_close(client, &err));
  CHECK_OK(billcore_client_close(client, &err));
  CHECK_FAILS(billcore_order_get(client, BILLCORE_STR("o1"), NULL, &order, &err), BILLCORE_ERROR_CONFIG, "closed");
  billcore_client_free(client);
}

static void test_retries_and_changes(const billcore_client* client) {
  billcore_error* err = NULL;
  billcore_order* order = NULL;
  billcore_client* once = NULL;
  billcore_client* other = NULL;
  billcore_client_changes* changes = NULL;

  CHECK(billcore_order_get(client, BILLCORE_STR("busy"), NULL, &order, &err) == BILLCORE_ERROR_SERVER);
  CHECK(billcore_error_attempts(err) == 3 && busy == 3); /* by default the client makes two retries */
  billcore_error_free(err);

  CHECK_OK(billcore_client_changes_new(&changes, &err));
  CHECK_OK(billcore_client_changes_set_max_retries(changes, 0, &err));
  CHECK_OK(billcore_client_with_options(client, changes, &once, &err));
  CHECK(billcore_order_get(once, BILLCORE_STR("busy"), NULL, &order, &err) == BILLCORE_ERROR_SERVER);
  CHECK(billcore_error_attempts(err) == 1 && busy == 4);
  billcore_error_free(err);

  CHECK_OK(billcore_client_changes_add_header(changes, BILLCORE_STR("X-Tenant"), BILLCORE_STR("7"), &err));
  CHECK_OK(billcore_client_changes_set_timeout_ms(changes, 30000, &err));
  CHECK_OK(billcore_client_with_options(once, changes, &other, &err));
  billcore_client_free(once);
  CHECK_OK(billcore_order_get(other, BILLCORE_STR("busy"), NULL, &order, &err));
  billcore_order_free(order);
  CHECK_OK(billcore_client_close(other, &err));
  CHECK(billcore_order_get(other, BILLCORE_STR("busy"), NULL, &order, &err) == BILLCORE_ERROR_CONFIG && order == NULL);
  billcore_error_free(err);
  billcore_client_free(other);
  CHECK_OK(billcore_order_get(client, BILLCORE_STR("o1"), NULL, &order, &err));
  billcore_order_free(order);

  CHECK_OK(billcore_client_changes_set_max_retries(changes, -1, &err));
  CHECK(billcore_client_with_options(client, changes, &other, &err) == BILLCORE_ERROR_CONFIG && other == NULL);
  billcore_error_free(err);
  billcore_client_changes_free(changes);
  billcore_client_changes_free(NULL);
}

static void test_config(void) {
  billcore_error* err = NULL;
  billcore_client_options* options = NULL;
  billcore_client* client = NULL;
  CHECK_OK(billcore_client_options_new(&options, &err));
  CHECK_OK(billcore_client_options_set_base_url(options, BILLCORE_STR("http://billing.example/a"), &err));
  CHECK_OK(billcore_client_options_set_api_key(options, BILLCORE_STR("key_of_a_test"), &err));
  CHECK_FAILS(billcore_client_new(options, &client, &err), BILLCORE_ERROR_CONFIG, "not loopback");
  CHECK(client == NULL);
  CHECK_OK(billcore_client_options_allow_insecure_http(options, &err));
  CHECK_OK(billcore_client_options_disable_http2(options, &err));
  CHECK_OK(billcore_client_options_enable_http2(options, &err));
  CHECK_OK(billcore_client_options_set_no_timeout(options, &err));
  CHECK_OK(billcore_client_new(options, &client, &err));
  billcore_client_free(client);
  CHECK_OK(billcore_client_options_set_timeout_ms(options, 0, &err));
  CHECK_FAILS(billcore_client_new(options, &client, &err), BILLCORE_ERROR_CONFIG, "timeout");
  CHECK_OK(billcore_client_options_set_timeout_ms(options, 1, &err));
  CHECK_OK(billcore_client_options_set_max_response(options, 0, &err));
  CHECK_FAILS(billcore_client_new(options, &client, &err), BILLCORE_ERROR_CONFIG, "max_response");
  CHECK_OK(billcore_client_options_set_max_response(options, 1000, &err));
  CHECK_OK(billcore_client_options_set_request_id_header(options, BILLCORE_STR("bad name"), &err));
  CHECK_FAILS(billcore_client_new(options, &client, &err), BILLCORE_ERROR_CONFIG, "request_id_header");
  CHECK_OK(billcore_client_options_set_request_id_header(options, BILLCORE_STR("X-Id"), &err));
  CHECK_OK(billcore_client_options_set_client_certificate(options, BILLCORE_STR("/nowhere/own.pem"), &err));
  CHECK_FAILS(billcore_client_new(options, &client, &err), BILLCORE_ERROR_CONFIG,
              "client_certificate: /nowhere/own.pem");
  CHECK_OK(billcore_client_options_set_ca_bundle(options, BILLCORE_STR("/nowhere/ca.pem"), &err));
  CHECK_FAILS(billcore_client_new(options, &client, &err), BILLCORE_ERROR_CONFIG, "ca_bundle");
  CHECK_OK(billcore_client_options_set_ca_bundle(options, BILLCORE_STR(""), &err));
  CHECK_OK(billcore_client_options_add_header(options, BILLCORE_STR("X-API-KEY"), BILLCORE_STR("other"), &err));
  CHECK(billcore_client_new(options, &client, &err) == BILLCORE_ERROR_CONFIG);
  CHECK(strstr(billcore_error_message(err).data, "key_of_a_test") == NULL);
  billcore_error_free(err);
  CHECK_OK(billcore_client_options_set_base_url(options, BILLCORE_STR("https://billing.example/"), &err));
  CHECK_FAILS(billcore_client_new(options, &client, &err), BILLCORE_ERROR_CONFIG, "https://HOST/ACCOUNT_ID");
  CHECK_FAILS(
      billcore_client_options_set_base_url(options, (billcore_str){"https://billing.example/a", SIZE_MAX}, &err),
      BILLCORE_ERROR_INVALID_ARGUMENT, "no memory holds");
  billcore_client_options_free(options);
}

/* One client and one verifier that many threads use. */
static billcore_client* shared_client;
static billcore_verifier* shared_verifier;

static void* use_shared(void* signature) {
  billcore_error* err = NULL;
  billcore_order* order = NULL;
  for (int i = 0; i < 20; ++i) {
    CHECK_OK(billcore_verifier_verify(shared_verifier, BILLCORE_STR("{}"), billcore_str_from(signature), NULL, &err));
    CHECK_OK(billcore_order_get(shared_client, BILLCORE_STR("o1"), NULL, &order, &err));
    billcore_order_free(order);
  }
  return NULL;
}

static void test_threads(const server* at) {
  billcore_error* err = NULL;
  billcore_buf signature = signature_of(BILLCORE_STR("{}"));
  pthread_t threads[8];
  shared_client = client_of(at, "key", NULL, NULL);
  CHECK_OK(billcore_verifier_new(SECRET, NULL, &shared_verifier, &err));
  for (int i = 0; i < 8; ++i) CHECK(pthread_create(&threads[i], NULL, use_shared, signature.data) == 0);
  for (int i = 0; i < 8; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  billcore_buf_free(&signature);
  billcore_verifier_free(shared_verifier);
  billcore_client_free(shared_client);
}

int main(void) {
  server* at = server_start(answer);
  billcore_client* client = client_of(at, "key", NULL, NULL);
  test_order_across_libraries(client);
  test_errors(client);
  test_request(client);
  test_retries_and_changes(client);
  billcore_client_free(client);
  test_interrupt_and_close(at);
  test_config();
  test_threads(at);
  server_stop(at);
  return 0;
}
