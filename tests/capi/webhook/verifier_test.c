/* Tests cases of freshness, clocks, streams, match counts, explain and accounts that the conformance driver cannot
 * express. */
#include <string.h>

#include "support/events.h"

static const char body_text[] = "{\"id\":1,\"name\":\"order.paid\",\"created_at\":\"2025-04-25T12:00:00Z\"}";
#define NOON INT64_C(1745582400000000)

static int64_t read_clock(void* context) {
  int64_t* times = context;
  ++times[1];
  return times[0];
}

static billcore_verifier* make(billcore_verifier_options* options) {
  billcore_error* err = NULL;
  billcore_verifier* out = NULL;
  if (options == NULL) CHECK_OK(billcore_verifier_options_new(&options, &err));
  CHECK_OK(billcore_verifier_options_add_secret(options, SECRET, &err));
  CHECK_OK(billcore_verifier_new(BILLCORE_STR("another 32 bytes, another 32 byt"), options, &out, &err));
  billcore_verifier_options_free(options);
  return out;
}

static billcore_verifier_options* fresh(int64_t milliseconds, int64_t* times) {
  billcore_error* err = NULL;
  billcore_verifier_options* options = NULL;
  CHECK_OK(billcore_verifier_options_new(&options, &err));
  CHECK_OK(billcore_verifier_options_set_freshness_ms(options, milliseconds, &err));
  CHECK_OK(billcore_verifier_options_set_clock(options, times != NULL ? read_clock : NULL, times, NULL, &err));
  return options;
}

static void test_freshness(void) {
  billcore_error* err = NULL;
  billcore_event* event = (billcore_event*)&err;
  const billcore_str body = billcore_str_from(body_text);
  billcore_buf signature = signature_of(body);
  int64_t times[2] = {NOON + 300000000, 0}; /* the time that the clock returns; how often it was read */
  billcore_verifier* verifier = make(fresh(300000, times));
  size_t index = 9;
  CHECK_OK(billcore_verifier_verify(verifier, body, view_of(signature), &index, &err));
  CHECK(index == 1 && times[1] == 1);
  CHECK_OK(billcore_verifier_unwrap(verifier, body, view_of(signature), &event, &err));
  billcore_event_free(event);
  CHECK(times[1] == 2);

  ++times[0];
  index = 9;
  CHECK_REFUSED(billcore_verifier_verify(verifier, body, view_of(signature), &index, &err), BILLCORE_REASON_STALE, 400);
  CHECK(index == 0);
  CHECK(billcore_verifier_verify(verifier, body, view_of(signature), NULL, NULL) == BILLCORE_ERROR_SIGNATURE);
  CHECK_FAILS(billcore_verifier_unwrap(verifier, body, view_of(signature), &event, &err), BILLCORE_ERROR_SIGNATURE,
              "stale");
  CHECK(event == NULL);
  /* For a wrong signature the verifier does not read the clock. */
  times[1] = 0;
  CHECK_FAILS(billcore_verifier_verify(verifier, BILLCORE_STR("{}"), view_of(signature), NULL, &err),
              BILLCORE_ERROR_SIGNATURE, "mismatch");
  CHECK(times[1] == 0);
  billcore_verifier_free(verifier);

  /* Without a clock the verifier uses the system's clock. */
  verifier = make(fresh(INT64_C(1000) * 3600, NULL));
  CHECK_FAILS(billcore_verifier_verify(verifier, body, view_of(signature), NULL, &err), BILLCORE_ERROR_SIGNATURE,
              "stale");
  billcore_verifier_free(verifier);
  /* With the largest freshness limit the verifier accepts an event of any age, without an overflow. */
  verifier = make(fresh(INT64_MAX, NULL));
  CHECK_OK(billcore_verifier_verify(verifier, body, view_of(signature), NULL, &err));
  billcore_verifier_free(verifier);
  billcore_buf_free(&signature);
}

static void test_freshness_must_be_positive(void) {
  const int64_t refused[] = {0, -1, INT64_MIN};
  billcore_error* err = NULL;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i) {
    billcore_verifier_options* options = fresh(refused[i], NULL);
    billcore_verifier* verifier = (billcore_verifier*)&err;
    CHECK_FAILS(billcore_verifier_new(SECRET, options, &verifier, &err), BILLCORE_ERROR_CONFIG, "freshness");
    CHECK(verifier == NULL);
    billcore_verifier_options_free(options);
  }
}

static void test_stream(void) {
  billcore_error* err = NULL;
  const billcore_str body = billcore_str_from(body_text);
  billcore_buf signature = signature_of(body);
  billcore_verifier* verifier = make(NULL);
  billcore_verifier_stream* stream = NULL;
  billcore_verifier_stream* other = NULL;
  size_t index = 9;
  uint64_t count = 9;
  CHECK(billcore_verifier_secret_count(verifier) == 2 && billcore_verifier_secret_count(NULL) == 0);
  CHECK_OK(billcore_verifier_stream_new(verifier, &stream, &err));
  CHECK_OK(billcore_verifier_stream_new(verifier, &other, &err));
  for (size_t i = 0; i < body.len; ++i) {
    /* The caller may free a piece as soon as update() returns. */
    char piece = body.data[i];
    CHECK_OK(billcore_verifier_stream_update(stream, (billcore_str){&piece, 1}, &err));
    CHECK_OK(billcore_verifier_stream_update(other, (billcore_str){&piece, i % 2}, &err));
    piece = '\0';
  }
  CHECK_OK(billcore_verifier_stream_update(stream, (billcore_str){NULL, 0}, &err));
  /* If the signature of a stream matches, the verifier counts one match. */
  CHECK_FAILS(billcore_verifier_stream_finish(other, view_of(signature), &index, &err), BILLCORE_ERROR_SIGNATURE,
              "mismatch");
  CHECK(index == 0);
  CHECK_OK(billcore_verifier_matches(verifier, 1, &count, &err));
  CHECK(count == 0);
  CHECK_OK(billcore_verifier_stream_finish(stream, view_of(signature), &index, &err));
  CHECK(index == 1);
  CHECK_OK(billcore_verifier_matches(verifier, 1, &count, &err));
  CHECK(count == 1);
  CHECK_OK(billcore_verifier_matches(verifier, 0, &count, &err));
  CHECK(count == 0);
  count = 9;
  CHECK_FAILS(billcore_verifier_matches(verifier, 2, &count, &err), BILLCORE_ERROR_INVALID_ARGUMENT, "there are 2");
  CHECK(count == 0);

  /* After finish(), every call on the stream fails, even if the signature was wrong. */
  index = 9;
  CHECK_FAILS(billcore_verifier_stream_finish(stream, view_of(signature), &index, &err),
              BILLCORE_ERROR_INVALID_ARGUMENT, "ended");
  CHECK(index == 0);
  CHECK_FAILS(billcore_verifier_stream_update(stream, body, &err), BILLCORE_ERROR_INVALID_ARGUMENT, "ended");
  CHECK_FAILS(billcore_verifier_stream_update(other, body, &err), BILLCORE_ERROR_INVALID_ARGUMENT, "ended");
  CHECK_FAILS(billcore_verifier_stream_finish(other, view_of(signature), NULL, &err), BILLCORE_ERROR_INVALID_ARGUMENT,
              "ended");
  billcore_verifier_stream_free(stream);
  billcore_verifier_stream_free(other);
  billcore_verifier_stream_free(NULL);

  /* The streams are used after their verifier is freed. One stream is freed before its finish(). */
  CHECK_OK(billcore_verifier_stream_new(verifier, &stream, &err));
  CHECK_OK(billcore_verifier_stream_new(verifier, &other, &err));
  billcore_verifier_free(verifier);
  CHECK_OK(billcore_verifier_stream_update(stream, body, &err));
  CHECK_FAILS(billcore_verifier_stream_update(other, (billcore_str){NULL, 1}, &err), BILLCORE_ERROR_INVALID_ARGUMENT,
              "length");
  CHECK_OK(billcore_verifier_stream_finish(stream, view_of(signature), NULL, &err));
  billcore_verifier_stream_free(other);
  billcore_verifier_stream_free(stream);

  verifier = make(fresh(1000, NULL));
  CHECK_FAILS(billcore_verifier_stream_new(verifier, &stream, &err), BILLCORE_ERROR_CONFIG, "freshness");
  CHECK(stream == NULL);
  billcore_verifier_free(verifier);
  billcore_buf_free(&signature);
}

static void test_stream_over_the_limit(void) {
  billcore_error* err = NULL;
  billcore_verifier_options* options = NULL;
  billcore_verifier* verifier;
  billcore_verifier_stream* stream = NULL;
  const billcore_str five = BILLCORE_STR("12345");
  CHECK_OK(billcore_verifier_options_new(&options, &err));
  CHECK_OK(billcore_verifier_options_set_max_body(options, 9, &err));
  verifier = make(options);
  CHECK_OK(billcore_verifier_stream_new(verifier, &stream, &err));
  CHECK_OK(billcore_verifier_stream_update(stream, five, &err));
  CHECK_REFUSED(billcore_verifier_stream_update(stream, five, &err), BILLCORE_REASON_BODY_TOO_LARGE, 413);
  /* After a piece over the limit every later call returns the same error, not the result for a shorter body. */
  CHECK_FAILS(billcore_verifier_stream_update(stream, (billcore_str){NULL, 0}, &err), BILLCORE_ERROR_SIGNATURE,
              "too_large");
  CHECK_FAILS(billcore_verifier_stream_finish(stream, (billcore_str){NULL, 0}, NULL, &err), BILLCORE_ERROR_SIGNATURE,
              "too_large");
  billcore_verifier_stream_free(stream);
  billcore_verifier_free(verifier);
}

static void test_explain(void) {
  billcore_error* err = NULL;
  const billcore_str body = billcore_str_from(body_text);
  const billcore_str none = {NULL, 0};
  billcore_verifier_options* more = NULL;
  billcore_buf signature = signature_of(body);
  billcore_buf text = {NULL, 0};
  CHECK_OK(billcore_webhook_explain(body, view_of(signature), SECRET, NULL, &text, &err));
  CHECK(strstr(text.data, "No fault in what was given: secret 1 of 1") == text.data && strlen(text.data) == text.len);
  billcore_buf_free(&text);
  CHECK_OK(billcore_verifier_options_new(&more, &err));
  CHECK_OK(billcore_verifier_options_add_secret(more, SECRET, &err));
  CHECK_OK(billcore_webhook_explain(body, view_of(signature), BILLCORE_STR("short"), more, &text, &err));
  billcore_verifier_options_free(more);
  CHECK(strstr(text.data, "secret 1 of 2: it has 5 bytes") != NULL);
  billcore_buf_free(&text);
  CHECK_OK(billcore_webhook_explain(none, none, none, NULL, &text, &err));
  CHECK(strstr(text.data, "no such header") != NULL && strstr(text.data, "it is empty") != NULL);
  billcore_buf_free(&text);
  CHECK_FAILS(billcore_webhook_explain((billcore_str){NULL, 1}, none, SECRET, NULL, &text, &err),
              BILLCORE_ERROR_INVALID_ARGUMENT, "length");
  CHECK(text.data == NULL && text.len == 0);
  billcore_buf_free(&signature);
}

static void test_accounts(void) {
  billcore_error* err = NULL;
  billcore_verifier_options* options = NULL;
  billcore_verifier* verifier = NULL;
  billcore_event* event = NULL;
  billcore_buf text = {NULL, 0};
  const billcore_str none = {NULL, 0};
  const billcore_str body = BILLCORE_STR("{\"name\":\"order.paid\",\"account\":17}");
  billcore_buf signature = signature_of(body);
  char account[] = {'1', '7', '1'}; /* text without a NUL */
  CHECK_OK(billcore_verifier_options_new(&options, &err));
  CHECK_OK(billcore_verifier_options_add_account(options, (billcore_str){account, 2}, &err));
  account[0] = '9';
  CHECK_OK(billcore_verifier_options_add_secret(options, SECRET, &err));
  CHECK_FAILS(billcore_verifier_new(SECRET, options, &verifier, &err), BILLCORE_ERROR_CONFIG, "no account");
  CHECK_OK(billcore_verifier_new(none, options, &verifier, &err));
  CHECK_OK(billcore_verifier_unwrap(verifier, body, view_of(signature), &event, &err));
  billcore_event_free(event);
  billcore_verifier_free(verifier);
  /* explain() tries the secrets of all accounts. */
  CHECK_OK(billcore_webhook_explain(body, view_of(signature), none, options, &text, &err));
  CHECK(strstr(text.data, "secret 1 of 1 gives") != NULL);
  billcore_buf_free(&text);
  CHECK_OK(billcore_verifier_options_allow_any_key_length(options, &err));
  CHECK_FAILS(billcore_verifier_new(none, options, &verifier, &err), BILLCORE_ERROR_CONFIG, "key length");
  billcore_verifier_options_free(options);

  /* A secret before the first account has no account. */
  CHECK_OK(billcore_verifier_options_new(&options, &err));
  CHECK_OK(billcore_verifier_options_add_secret(options, SECRET, &err));
  CHECK_OK(billcore_verifier_options_add_account(options, BILLCORE_STR("17"), &err));
  CHECK_OK(billcore_verifier_options_add_secret(options, SECRET, &err));
  CHECK_FAILS(billcore_verifier_new(none, options, &verifier, &err), BILLCORE_ERROR_CONFIG, "no account");
  billcore_verifier_options_free(options);

  /* An account that is begun twice has the secrets of both parts. */
  CHECK_OK(billcore_verifier_options_new(&options, &err));
  CHECK_OK(billcore_verifier_options_add_account(options, BILLCORE_STR("17"), &err));
  CHECK_OK(billcore_verifier_options_add_secret(options, BILLCORE_STR("another 32 bytes, another 32 byt"), &err));
  CHECK_OK(billcore_verifier_options_add_account(options, BILLCORE_STR("18"), &err));
  CHECK_OK(billcore_verifier_options_add_secret(options, SECRET, &err));
  CHECK_OK(billcore_verifier_new(none, options, &verifier, &err));
  CHECK_REFUSED(billcore_verifier_unwrap(verifier, body, view_of(signature), &event, &err), BILLCORE_REASON_MISMATCH,
                401);
  billcore_verifier_free(verifier);
  CHECK_OK(billcore_verifier_options_add_account(options, BILLCORE_STR("17"), &err));
  CHECK_OK(billcore_verifier_options_add_secret(options, SECRET, &err));
  CHECK_OK(billcore_verifier_new(none, options, &verifier, &err));
  CHECK_OK(billcore_verifier_unwrap(verifier, body, view_of(signature), &event, &err));
  billcore_event_free(event);
  billcore_verifier_free(verifier);
  billcore_verifier_options_free(options);
  billcore_buf_free(&signature);
}

int main(void) {
  test_freshness();
  test_freshness_must_be_positive();
  test_stream();
  test_stream_over_the_limit();
  test_explain();
  test_accounts();
  return 0;
}
