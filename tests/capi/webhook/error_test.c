/* Tests status numbers, errors, and the results of functions for NULL, empty and wrong arguments. */
#include <stdint.h>

#include "support/events.h"

static void test_numbers(void) {
  static const struct {
    billcore_status status;
    int number;
    const char* name;
  } table[] = {{BILLCORE_OK, 0, "OK"},
               {BILLCORE_DONE, 1, "DONE"},
               {BILLCORE_ERROR_INVALID_ARGUMENT, 2, "INVALID_ARGUMENT"},
               {BILLCORE_ERROR_CONFIG, 3, "CONFIG"},
               {BILLCORE_ERROR_OUT_OF_MEMORY, 4, "OUT_OF_MEMORY"},
               {BILLCORE_ERROR_INTERNAL, 5, "INTERNAL"},
               {BILLCORE_ERROR_SIGNATURE, 6, "SIGNATURE"},
               {BILLCORE_ERROR_DECODE, 7, "DECODE"},
               {BILLCORE_ERROR_OUT_OF_RANGE, 8, "OUT_OF_RANGE"},
               {BILLCORE_ERROR_API, 9, "API"},
               {BILLCORE_ERROR_AUTHENTICATION, 10, "AUTHENTICATION"},
               {BILLCORE_ERROR_PAYMENT, 11, "PAYMENT"},
               {BILLCORE_ERROR_NOT_FOUND, 12, "NOT_FOUND"},
               {BILLCORE_ERROR_VALIDATION, 13, "VALIDATION"},
               {BILLCORE_ERROR_RATE_LIMIT, 14, "RATE_LIMIT"},
               {BILLCORE_ERROR_SERVER, 15, "SERVER"},
               {BILLCORE_ERROR_TRANSPORT, 16, "TRANSPORT"},
               {BILLCORE_ERROR_TIMEOUT, 17, "TIMEOUT"},
               {BILLCORE_ERROR_CONNECTION, 18, "CONNECTION"},
               {BILLCORE_ERROR_TLS, 19, "TLS"},
               {BILLCORE_ERROR_OUTCOME_UNKNOWN, 20, "OUTCOME_UNKNOWN"},
               {BILLCORE_ERROR_PAGINATION, 21, "PAGINATION"},
               {BILLCORE_ERROR_INTERRUPTED, 22, "INTERRUPTED"},
               {BILLCORE_ERROR_MISSING_FIELD, 23, "MISSING_FIELD"},
               {BILLCORE_ERROR_BAD_REQUEST, 24, "BAD_REQUEST"},
               {BILLCORE_ERROR_PERMISSION_DENIED, 25, "PERMISSION_DENIED"},
               {BILLCORE_ERROR_CONFLICT, 26, "CONFLICT"},
               {BILLCORE_ERROR_POSSIBLY_MISSED, 27, "POSSIBLY_MISSED"}};
  const int count = sizeof table / sizeof *table;
  for (int i = 0; i < count; ++i) {
    CHECK(table[i].number == i && table[i].status == i);
    CHECK(strcmp(billcore_status_name(i), table[i].name) == 0);
  }
  CHECK(strcmp(billcore_status_name(count), "UNKNOWN") == 0);
  CHECK(strcmp(billcore_status_name(-1), "UNKNOWN") == 0);
  CHECK(strcmp(billcore_reason_name(BILLCORE_REASON_NONE), "none") == 0);
  CHECK(strcmp(billcore_reason_name(BILLCORE_REASON_BODY_TOO_LARGE), "body_too_large") == 0);
  CHECK(strcmp(billcore_reason_name(BILLCORE_REASON_MISSING), "missing") == 0);
  CHECK(strcmp(billcore_reason_name(BILLCORE_REASON_MALFORMED), "malformed") == 0);
  CHECK(strcmp(billcore_reason_name(BILLCORE_REASON_MISMATCH), "mismatch") == 0);
  CHECK(strcmp(billcore_reason_name(BILLCORE_REASON_STALE), "stale") == 0);
  CHECK(strcmp(billcore_reason_name(77), "none") == 0);
  CHECK(strcmp(billcore_version(), BILLCORE_VERSION) == 0);
}

static void test_no_error(void) {
  double seconds = 1;
  int64_t micros = 1;
  CHECK(billcore_error_status(NULL) == BILLCORE_OK);
  CHECK(is_text(billcore_error_message(NULL), ""));
  CHECK(billcore_error_http_status(NULL) == 0 && billcore_error_attempts(NULL) == 0);
  CHECK(is_text(billcore_error_api_code(NULL), "") && is_text(billcore_error_api_message(NULL), ""));
  CHECK(is_text(billcore_error_body(NULL), "") && is_text(billcore_error_request_id(NULL), ""));
  CHECK(is_text(billcore_error_method(NULL), "") && is_text(billcore_error_path(NULL), ""));
  CHECK(!billcore_error_retry_after(NULL, &seconds) && seconds == 0);
  CHECK(!billcore_error_attempted_at(NULL, &micros) && micros == 0);
  CHECK(!billcore_error_outcome_unknown(NULL));
  CHECK(!billcore_error_sent_late(NULL));
  CHECK(billcore_error_reason(NULL) == BILLCORE_REASON_NONE && billcore_error_cause(NULL) == BILLCORE_OK);
  CHECK(is_text(billcore_error_cause_message(NULL), "") && is_text(billcore_error_field_path(NULL), ""));
  billcore_error_free(NULL);
}

static void test_texts(void) {
  billcore_error* err = NULL;
  const billcore_str none = billcore_str_from(NULL);
  CHECK(none.data == NULL && none.len == 0);
  CHECK(is_text(billcore_str_from("abc"), "abc"));
  CHECK(is_text(BILLCORE_STR("abc"), "abc"));
  /* A length without data is a mistake of the caller, not an empty text. */
  CHECK_FAILS(billcore_webhook_verify((billcore_str){NULL, 3}, none, SECRET, &err), BILLCORE_ERROR_INVALID_ARGUMENT,
              "length");
  CHECK_FAILS(billcore_webhook_verify(none, (billcore_str){NULL, 64}, SECRET, &err), BILLCORE_ERROR_INVALID_ARGUMENT,
              "length");
}

/* A function must read nothing from a text with an impossible length, such as a negative number cast to size_t. */
static void test_lengths(void) {
  static const size_t lengths[] = {PTRDIFF_MAX, (size_t)PTRDIFF_MAX + 1, SIZE_MAX - 1, SIZE_MAX};
  const billcore_str body = BILLCORE_STR("{}");
  const billcore_str signature = BILLCORE_STR("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
  billcore_error* err = NULL;
  billcore_headers* headers = NULL;
  billcore_verifier* verifier = NULL;
  billcore_verifier_stream* stream = NULL;
  billcore_verifier_options* options = NULL;
  CHECK_OK(billcore_verifier_options_new(&options, &err));
  CHECK_OK(billcore_verifier_new(SECRET, NULL, &verifier, &err));
  CHECK_OK(billcore_headers_new(&headers, &err));
  CHECK_OK(billcore_verifier_stream_new(verifier, &stream, &err));
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
    const billcore_str huge = {"{}", lengths[i]};
    billcore_buf text = {NULL, 0};
    billcore_event* event = NULL;
    billcore_verifier* made = NULL;
    size_t index = 0;
#define CHECK_LENGTH(call) CHECK_FAILS(call, BILLCORE_ERROR_INVALID_ARGUMENT, "no memory holds")
    CHECK_LENGTH(billcore_webhook_sign(huge, SECRET, &text, &err));
    CHECK_LENGTH(billcore_webhook_sign(body, huge, &text, &err));
    CHECK_LENGTH(billcore_webhook_explain(huge, signature, SECRET, NULL, &text, &err));
    CHECK_LENGTH(billcore_webhook_explain(body, huge, SECRET, NULL, &text, &err));
    CHECK_LENGTH(billcore_webhook_explain(body, signature, huge, NULL, &text, &err));
    CHECK(text.data == NULL && text.len == 0);
    CHECK_LENGTH(billcore_webhook_verify(huge, signature, SECRET, &err));
    CHECK_LENGTH(billcore_webhook_verify(body, huge, SECRET, &err));
    CHECK_LENGTH(billcore_webhook_verify(body, signature, huge, &err));
    CHECK_LENGTH(billcore_webhook_unwrap(huge, signature, SECRET, &event, &err));
    CHECK_LENGTH(billcore_verifier_verify(verifier, huge, signature, &index, &err));
    CHECK_LENGTH(billcore_verifier_unwrap(verifier, body, huge, &event, &err));
    CHECK_LENGTH(billcore_verifier_unwrap_request(verifier, huge, headers, &event, &err));
    CHECK_LENGTH(billcore_headers_add(headers, huge, body, &err));
    CHECK_LENGTH(billcore_headers_add(headers, body, huge, &err));
    CHECK(event == NULL);
    CHECK_LENGTH(billcore_verifier_new(huge, NULL, &made, &err));
    CHECK_LENGTH(billcore_verifier_options_add_secret(options, huge, &err));
    CHECK(made == NULL);
    CHECK_LENGTH(billcore_verifier_options_set_header(options, huge, &err));
    CHECK_LENGTH(billcore_verifier_stream_update(stream, huge, &err));
#undef CHECK_LENGTH
  }
  billcore_verifier_stream_free(stream);
  billcore_headers_free(headers);
  billcore_verifier_free(verifier);
  billcore_verifier_options_free(options);
}

static void test_same_id(void) {
  const billcore_str none = {NULL, 0};
  CHECK(billcore_same_id(BILLCORE_STR("7"), billcore_str_from("7")));
  CHECK(!billcore_same_id(BILLCORE_STR("7"), BILLCORE_STR("07")) &&
        !billcore_same_id(BILLCORE_STR("a"), BILLCORE_STR("A")));
  CHECK(!billcore_same_id(BILLCORE_STR("a"), BILLCORE_STR("a\0")));
  CHECK(!billcore_same_id(none, none) && !billcore_same_id(none, BILLCORE_STR("")) &&
        !billcore_same_id(BILLCORE_STR("7"), none));
  CHECK(!billcore_same_id((billcore_str){"7", SIZE_MAX}, (billcore_str){"7", SIZE_MAX}));
}

static void test_signature_errors(void) {
  billcore_error* err = NULL;
  billcore_verifier* verifier = (billcore_verifier*)&err;
  const billcore_str none = {NULL, 0};
  const billcore_str body = BILLCORE_STR("{}");
  billcore_headers* headers = NULL;
  billcore_verifier_options* options = NULL;
  billcore_event* event = NULL;
  billcore_buf signature;
  char joined[160];

  CHECK_REFUSED(billcore_webhook_verify(body, none, SECRET, &err), BILLCORE_REASON_MISSING, 401);
  CHECK_REFUSED(billcore_webhook_verify(body, BILLCORE_STR(""), SECRET, &err), BILLCORE_REASON_MALFORMED, 400);

  CHECK_FAILS(billcore_verifier_new(none, NULL, &verifier, &err), BILLCORE_ERROR_CONFIG, "no signing secret");
  CHECK(verifier == NULL);
  CHECK_FAILS(billcore_verifier_new(BILLCORE_STR(""), NULL, &verifier, &err), BILLCORE_ERROR_CONFIG, "empty");
  CHECK_FAILS(billcore_webhook_sign(body, BILLCORE_STR("short"), &signature, &err), BILLCORE_ERROR_CONFIG, "5 bytes");
  CHECK(signature.data == NULL);

  /* With allow_any_key_length, a verifier accepts a key of any length. Equal signature headers count as one header;
   * different ones are malformed. */
  CHECK_OK(billcore_verifier_options_new(&options, &err));
  CHECK_OK(billcore_verifier_options_add_secret(options, SECRET, &err));
  CHECK_FAILS(billcore_verifier_new(BILLCORE_STR("short"), options, &verifier, &err), BILLCORE_ERROR_CONFIG, "5 bytes");
  CHECK_OK(billcore_verifier_options_allow_any_key_length(options, &err));
  CHECK_OK(billcore_verifier_options_set_header(options, BILLCORE_STR("SERVICE-SIGNATURE"), &err));
  CHECK_OK(billcore_verifier_new(none, options, &verifier, &err));
  CHECK(billcore_verifier_secret_count(verifier) == 1);
  billcore_verifier_free(verifier);
  CHECK_OK(billcore_verifier_new(BILLCORE_STR("short"), options, &verifier, &err));
  CHECK(billcore_verifier_secret_count(verifier) == 2);
  billcore_verifier_options_free(options);
  signature = signature_of(body);
  CHECK_REFUSED(billcore_verifier_unwrap_request(verifier, body, NULL, &event, &err), BILLCORE_REASON_MISSING, 401);
  CHECK_OK(billcore_headers_new(&headers, &err));
  CHECK_OK(billcore_headers_add(headers, BILLCORE_STR("Service-Signature"), view_of(signature), &err));
  CHECK_OK(billcore_headers_add(headers, BILLCORE_STR("service-signature"), view_of(signature), &err));
  CHECK_OK(billcore_verifier_unwrap_request(verifier, body, headers, &event, &err));
  billcore_event_free(event);
  snprintf(joined, sizeof joined, "%s , %s", signature.data, signature.data);
  CHECK_OK(billcore_headers_add(headers, BILLCORE_STR("service-signature"), billcore_str_from(joined), &err));
  CHECK_OK(billcore_verifier_unwrap_request(verifier, body, headers, &event, &err));
  billcore_event_free(event);
  CHECK_REFUSED(billcore_verifier_unwrap(verifier, body, billcore_str_from(joined), &event, &err),
                BILLCORE_REASON_MALFORMED, 400);
  CHECK_OK(billcore_headers_add(headers, BILLCORE_STR("service-signature"), BILLCORE_STR("another"), &err));
  CHECK_REFUSED(billcore_verifier_unwrap_request(verifier, body, headers, &event, &err), BILLCORE_REASON_MALFORMED,
                400);
  CHECK(event == NULL);
  billcore_headers_free(headers);
  billcore_buf_free(&signature);
  billcore_verifier_free(verifier);
}

int main(void) {
  test_numbers();
  test_no_error();
  test_texts();
  test_lengths();
  test_same_id();
  test_signature_errors();
  return 0;
}
