/* Tests the client: its options, the fields of errors and answers, handles that libbillcore and libbillcore-webhook
 * share. The conformance tests check what the client sends. */
#include "support/client.h"

#include <stdint.h>

static const char* answer(const char* request) {
  if (strstr(request, "X-Tenant: 7") != NULL) return DATA(ORDER("o"));
  if (strstr(request, "POST /acct/thing?a=%26 ") != NULL) return "HTTP/1.1 409 Conflict" HEAD "{\"x\":[1]}";
  return usual_answer(request);
}

/* libbillcore makes the order, libbillcore-webhook reads, copies and frees it. */
static void test_order_across_libraries(const billcore_client* client) {
  billcore_order* order = NULL;
  billcore_order* copy = NULL;
  billcore_response_info* info = NULL;
  billcore_str text;
  bool flag;
  int32_t number;
  size_t count;

  CHECK_OK(billcore_order_get(client, BILLCORE_STR("o"), NULL, &order, &err));
  CHECK_OK(billcore_order_response_info(order, &info, &flag, &err));
  CHECK(flag);
  CHECK_OK(billcore_order_copy(order, &copy, &err));
  billcore_order_free(order);
  expect_id(copy, "o");

  CHECK_OK(billcore_response_info_status(info, &number, &err));
  CHECK(number == 200);
  CHECK_OK(billcore_response_info_attempts(info, &number, &err));
  CHECK(number == 1);
  CHECK_OK(billcore_response_info_sent_late(info, &flag, &err));
  CHECK(!flag);
  CHECK_OK(billcore_response_info_request_id(info, &text, &err));
  CHECK(is_text(text, "req-7"));
  CHECK_OK(billcore_response_info_header_count(info, &count, &err));
  CHECK(count == 3);
  CHECK_OK(billcore_response_info_header_at(info, 1, &text, &text, &err));
  CHECK(is_text(text, "req-7"));
  CHECK_INVALID(billcore_response_info_header_at(info, 3, &text, &text, &err), "no item 3");
  CHECK_OK(billcore_response_info_header(info, BILLCORE_STR("CONTENT-type"), &text, &flag, &err));
  CHECK(flag && is_text(text, "application/json"));
  CHECK_OK(billcore_response_info_header(info, BILLCORE_STR("etag"), &text, &flag, &err));
  CHECK(!flag && text.data == NULL);
  billcore_response_info_free(info);
}

/* The fields of an error that the conformance driver does not read; a call also returns its status without an error. */
static void test_errors(const billcore_client* client) {
  int64_t when = 1;
  CHECK(charge(client, "refused", NULL) == BILLCORE_ERROR_PAYMENT);
  CHECK(!billcore_error_attempted_at(err, &when) && when == 0 && billcore_error_cause(err) == BILLCORE_OK);
  CHECK(billcore_error_attempts(err) == 1);
  billcore_error_free(err);
  CHECK(charge(client, "lost", NULL) == BILLCORE_ERROR_OUTCOME_UNKNOWN);
  CHECK(billcore_error_attempted_at(err, &when) && when > INT64_C(1700000000000000));
  CHECK(billcore_error_cause(err) == BILLCORE_ERROR_CONNECTION && billcore_error_cause_message(err).len > 0);
  billcore_error_free(err);
  err = NULL;
  billcore_order* order = NULL;
  CHECK(billcore_order_get(client, BILLCORE_STR("none"), NULL, &order, NULL) == BILLCORE_ERROR_NOT_FOUND);
}

static void test_product(const billcore_client* client) {
  billcore_product* product = NULL;
  billcore_product_changes* changes = NULL;
  CHECK_OK(billcore_product_delete(client, 1, NULL, &err));
  CHECK_INVALID(billcore_product_update(client, 1, NULL, NULL, &product, &err), "no fields");
  CHECK_OK(billcore_product_changes_new(&changes, &err));
  CHECK_INVALID(billcore_product_changes_set_vat_rate(changes, BILLCORE_STR("2,5"), &err), "vat_rate");
  CHECK_INVALID(billcore_product_changes_set_name(changes, BILLCORE_STR("\xff"), &err), "UTF-8");
  billcore_product_changes_free(changes);
}

static billcore_status post_thing(const billcore_client* client, const billcore_request_options* options,
                                  billcore_response** out) {
  return billcore_client_request(client, BILLCORE_STR("POST"), BILLCORE_STR("/thing"), options, NULL, out, &err);
}

static void test_request(const billcore_client* client) {
  billcore_request_options* options = NULL;
  billcore_response* response = NULL;
  billcore_response_info* info = NULL;
  billcore_value* json = NULL;
  billcore_str text;
  bool present;
  int32_t status;

  CHECK_OK(billcore_request_options_new(&options, &err));
  CHECK_OK(billcore_request_options_add_query(options, BILLCORE_STR("a"), BILLCORE_STR("&"), &err));
  CHECK_OK(billcore_request_options_set_json(options, BILLCORE_STR("{}"), &err));
  CHECK_FAILS(post_thing(client, options, &response), BILLCORE_ERROR_CONFLICT, "409");
  CHECK(response == NULL);
  CHECK_OK(billcore_request_options_accept_all_statuses(options, &err));
  CHECK_OK(post_thing(client, options, &response));
  billcore_request_options_free(options);
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
  int asked = 0;
  billcore_client_options* options = options_for(at);
  CHECK_OK(billcore_client_options_set_interrupt(options, asked_often, &asked, NULL, &err));
  billcore_client* client = client_with(options);
  CHECK_FAILS(get(client, "held", NULL), BILLCORE_ERROR_INTERRUPTED, "interrupted");
  CHECK(asked == 3);
  billcore_client_free(client);

  client = client_of(at);
  CHECK_OK(billcore_client_close(client, &err));
  CHECK_OK(billcore_client_close(client, &err));
  CHECK_FAILS(get(client, "o", NULL), BILLCORE_ERROR_CONFIG, "closed");
  billcore_client_free(client);
}

static void test_changes(const billcore_client* client) {
  billcore_client* once = NULL;
  billcore_client* other = NULL;
  billcore_client_changes* changes = NULL;
  const int before = requests;
  CHECK_OK(billcore_client_changes_new(&changes, &err));
  CHECK_OK(billcore_client_changes_set_max_retries(changes, 0, &err));
  CHECK_OK(billcore_client_with_options(client, changes, &once, &err));
  CHECK_FAILS(get(once, "busy", NULL), BILLCORE_ERROR_SERVER, "503");
  CHECK(requests == before + 1);

  CHECK_OK(billcore_client_changes_add_header(changes, BILLCORE_STR("X-Tenant"), BILLCORE_STR("7"), &err));
  CHECK_OK(billcore_client_changes_set_timeout_ms(changes, 30000, &err));
  CHECK_OK(billcore_client_changes_set_concurrency(changes, 2, &err));
  CHECK_OK(billcore_client_with_options(once, changes, &other, &err));
  billcore_client_free(once);
  CHECK_OK(get(other, "busy", NULL));
  CHECK_OK(billcore_client_close(other, &err)); /* not the client that it was made from */
  CHECK_FAILS(get(other, "o", NULL), BILLCORE_ERROR_CONFIG, "closed");
  billcore_client_free(other);
  CHECK_OK(get(client, "o", NULL));

  CHECK_OK(billcore_client_changes_set_max_retries(changes, -1, &err));
  CHECK_FAILS(billcore_client_with_options(client, changes, &other, &err), BILLCORE_ERROR_CONFIG, "max_retries");
  CHECK(other == NULL);
  billcore_client_changes_free(changes);
}

/* Each option is set with its function to a value that the client refuses or accepts. */
static void test_config(const server* at) {
  billcore_client_options* options = options_for(at);
  billcore_client* client = NULL;
#define CHECK_CONFIG(call, words)                                                         \
  CHECK_OK(call);                                                                         \
  CHECK_FAILS(billcore_client_new(options, &client, &err), BILLCORE_ERROR_CONFIG, words); \
  CHECK(client == NULL)
  CHECK_OK(billcore_client_options_disable_http2(options, &err));
  CHECK_OK(billcore_client_options_enable_http2(options, &err));
  CHECK_OK(billcore_client_options_set_no_timeout(options, &err));
  CHECK_OK(billcore_client_options_set_proxy(options, BILLCORE_STR("http://127.0.0.1:1"), &err));
  CHECK_OK(billcore_client_options_set_no_proxy(options, &err));
  CHECK_OK(billcore_client_new(options, &client, &err));
  billcore_client_free(client);
  CHECK_CONFIG(billcore_client_options_set_timeout_ms(options, 0, &err), "timeout");
  CHECK_OK(billcore_client_options_set_timeout_ms(options, 1, &err));
  CHECK_CONFIG(billcore_client_options_set_max_retries(options, -1, &err), "max_retries");
  CHECK_OK(billcore_client_options_set_max_retries(options, 0, &err));
  CHECK_CONFIG(billcore_client_options_set_concurrency(options, INT32_MIN, &err), "concurrency");
  CHECK_OK(billcore_client_options_set_concurrency(options, INT32_MAX, &err));
  CHECK_CONFIG(billcore_client_options_set_max_response(options, 0, &err), "max_response");
  CHECK_OK(billcore_client_options_set_max_response(options, 1000, &err));
  CHECK_CONFIG(billcore_client_options_set_request_id_header(options, BILLCORE_STR("bad name"), &err),
               "request_id_header");
  CHECK_OK(billcore_client_options_set_request_id_header(options, BILLCORE_STR("X-Id"), &err));
  CHECK_CONFIG(billcore_client_options_set_client_certificate(options, BILLCORE_STR("/no.pem"), &err),
               "client_certificate: /no.pem");
  CHECK_CONFIG(billcore_client_options_set_ca_bundle(options, BILLCORE_STR("/no.pem"), &err), "ca_bundle");
  CHECK_OK(billcore_client_options_set_ca_bundle(options, BILLCORE_STR(""), &err));
  CHECK_CONFIG(billcore_client_options_add_header(options, BILLCORE_STR("X-API-KEY"), BILLCORE_STR("k"), &err), "");
  CHECK_CONFIG(billcore_client_options_set_base_url(options, BILLCORE_STR("http://billing.example/a"), &err),
               "not loopback");
  CHECK_OK(billcore_client_options_allow_insecure_http(options, &err));
  CHECK_CONFIG(billcore_client_options_set_base_url(options, BILLCORE_STR("http://billing.example/"), &err),
               "https://HOST/ACCOUNT_ID");
#undef CHECK_CONFIG
  billcore_client_options_free(options);
}

int main(void) {
  server* at = server_start(answer);
  billcore_client* client = client_of(at);
  test_order_across_libraries(client);
  test_errors(client);
  test_product(client);
  test_request(client);
  test_changes(client);
  billcore_client_free(client);
  test_interrupt_and_close(at);
  test_config(at);
  server_stop(at);
  return 0;
}
