/* Tests clocks, streams, match counts, explain, accounts and headers of the webhook functions: what the conformance
 * driver cannot express, such as lifetimes. */
#include "support/events.h"

static const char body_text[] = "{\"id\":1,\"name\":\"order.paid\",\"created_at\":\"2025-04-25T12:00:00Z\"}";
#define NOON INT64_C(1745582400000000)
#define OTHER BILLCORE_STR("another 32 bytes, another 32 byt")
static const billcore_str none = {NULL, 0};

static billcore_verifier_options* new_options(void) {
  billcore_verifier_options* out = NULL;
  CHECK_OK(billcore_verifier_options_new(&out, &err));
  return out;
}

/* Makes a verifier with the secrets OTHER and SECRET, and frees the options. */
static billcore_verifier* make(billcore_verifier_options* options) {
  billcore_verifier* out = NULL;
  CHECK_OK(billcore_verifier_options_add_secret(options, SECRET, &err));
  CHECK_OK(billcore_verifier_new(OTHER, options, &out, &err));
  billcore_verifier_options_free(options);
  return out;
}

static int64_t read_clock(void* context) {
  int64_t* times = context;
  ++times[1];
  return times[0];
}

static billcore_verifier_options* fresh(int64_t milliseconds, int64_t* times) {
  billcore_verifier_options* options = new_options();
  CHECK_OK(billcore_verifier_options_set_freshness_ms(options, milliseconds, &err));
  CHECK_OK(billcore_verifier_options_set_clock(options, times != NULL ? read_clock : NULL, times, NULL, &err));
  return options;
}

static void test_freshness(billcore_str body, billcore_str signature) {
  int64_t times[2] = {NOON + 300000000, 0}; /* the time that the clock returns; how often it was read */
  billcore_verifier* verifier = make(fresh(300000, times));
  size_t index = 9;
  CHECK_OK(billcore_verifier_verify(verifier, body, signature, &index, &err));
  CHECK(index == 1 && times[1] == 1);
  ++times[0];
  CHECK_REFUSED(billcore_verifier_verify(verifier, body, signature, &index, &err), BILLCORE_REASON_STALE, 400);
  CHECK(index == 0);
  CHECK(billcore_verifier_verify(verifier, body, signature, NULL, NULL) == BILLCORE_ERROR_SIGNATURE);
  billcore_verifier_free(verifier);

  /* Without a clock the verifier uses the system's clock. */
  verifier = make(fresh(INT64_C(1000) * 3600, NULL));
  CHECK_REFUSED(billcore_verifier_verify(verifier, body, signature, NULL, &err), BILLCORE_REASON_STALE, 400);
  billcore_verifier_free(verifier);
  /* With the largest freshness limit the verifier accepts an event of any age, without an overflow. */
  verifier = make(fresh(INT64_MAX, NULL));
  CHECK_OK(billcore_verifier_verify(verifier, body, signature, NULL, &err));
  billcore_verifier_free(verifier);
  billcore_verifier_options* options = fresh(INT64_MIN, NULL);
  CHECK_FAILS(billcore_verifier_new(SECRET, options, &verifier, &err), BILLCORE_ERROR_CONFIG, "freshness");
  CHECK(verifier == NULL);
  billcore_verifier_options_free(options);
}

static void test_stream(billcore_str body, billcore_str signature) {
  billcore_verifier* verifier = make(new_options());
  billcore_verifier_stream* stream = NULL;
  billcore_verifier_stream* other = NULL;
  size_t index = 9;
  uint64_t count = 9;
  CHECK(billcore_verifier_secret_count(verifier) == 2 && billcore_verifier_secret_count(NULL) == 0);
  CHECK_OK(billcore_verifier_stream_new(verifier, &stream, &err));
  CHECK_OK(billcore_verifier_stream_new(verifier, &other, &err));
  for (size_t i = 0; i < body.len; ++i) {
    char piece = body.data[i]; /* the caller may free a piece as soon as update() returns */
    CHECK_OK(billcore_verifier_stream_update(stream, (billcore_str){&piece, 1}, &err));
    CHECK_OK(billcore_verifier_stream_update(other, (billcore_str){&piece, i % 2}, &err));
    piece = '\0';
  }
  CHECK_OK(billcore_verifier_stream_update(stream, none, &err));
  CHECK_REFUSED(billcore_verifier_stream_finish(other, signature, &index, &err), BILLCORE_REASON_MISMATCH, 401);
  CHECK(index == 0);
  CHECK_OK(billcore_verifier_stream_finish(stream, signature, &index, &err));
  CHECK(index == 1);
  CHECK_OK(billcore_verifier_matches(verifier, 1, &count, &err));
  CHECK(count == 1);
  CHECK_INVALID(billcore_verifier_matches(verifier, 2, &count, &err), "there are 2");
  CHECK(count == 0);

  /* After finish(), every call on the stream fails, even if the signature was wrong. */
  index = 9;
  CHECK_INVALID(billcore_verifier_stream_finish(stream, signature, &index, &err), "ended");
  CHECK(index == 0);
  CHECK_INVALID(billcore_verifier_stream_update(other, body, &err), "ended");
  billcore_verifier_stream_free(stream);
  billcore_verifier_stream_free(other);
  billcore_verifier_stream_free(NULL);

  /* The streams are used after their verifier is freed. One stream is freed before its finish(). */
  CHECK_OK(billcore_verifier_stream_new(verifier, &stream, &err));
  CHECK_OK(billcore_verifier_stream_new(verifier, &other, &err));
  billcore_verifier_free(verifier);
  CHECK_OK(billcore_verifier_stream_update(stream, body, &err));
  CHECK_OK(billcore_verifier_stream_update(other, body, &err));
  CHECK_OK(billcore_verifier_stream_finish(stream, signature, NULL, &err));
  billcore_verifier_stream_free(other);
  billcore_verifier_stream_free(stream);
}

static void test_explain(billcore_str body, billcore_str signature) {
  billcore_verifier_options* more = new_options();
  billcore_buf text = {NULL, 0};
  CHECK_OK(billcore_verifier_options_add_secret(more, SECRET, &err));
  CHECK_OK(billcore_webhook_explain(body, signature, BILLCORE_STR("short"), more, &text, &err));
  CHECK(strstr(text.data, "secret 1 of 2: it has 5 bytes") != NULL && strlen(text.data) == text.len);
  billcore_buf_free(&text);
  CHECK_OK(billcore_webhook_explain(none, none, none, NULL, &text, &err));
  CHECK(strstr(text.data, "no such header") != NULL && strstr(text.data, "it is empty") != NULL);
  billcore_buf_free(&text);
  billcore_verifier_options_free(more);
}

static void add_account(billcore_verifier_options* to, const char* account, billcore_str secret) {
  CHECK_OK(billcore_verifier_options_add_account(to, billcore_str_from(account), &err));
  CHECK_OK(billcore_verifier_options_add_secret(to, secret, &err));
}

static void test_accounts(void) {
  billcore_verifier* verifier = NULL;
  billcore_event* event = NULL;
  const billcore_str body = BILLCORE_STR("{\"name\":\"order.paid\",\"account\":17}");
  billcore_buf signature = signature_of(body);
  char account[] = "17";
  billcore_verifier_options* options = new_options();
  add_account(options, account, OTHER);
  account[0] = '9'; /* the options have a copy */
  add_account(options, "18", OTHER);
  add_account(options, "17", SECRET); /* an account that is begun twice has the secrets of both parts */
  CHECK_FAILS(billcore_verifier_new(SECRET, options, &verifier, &err), BILLCORE_ERROR_CONFIG, "no account");
  CHECK_OK(billcore_verifier_new(none, options, &verifier, &err));
  CHECK_OK(billcore_verifier_unwrap(verifier, body, view_of(signature), &event, &err));
  billcore_event_free(event);
  billcore_verifier_free(verifier);
  CHECK_OK(billcore_verifier_options_allow_any_key_length(options, &err));
  CHECK_FAILS(billcore_verifier_new(none, options, &verifier, &err), BILLCORE_ERROR_CONFIG, "key length");
  billcore_verifier_options_free(options);

  options = new_options(); /* a secret before the first account has no account */
  CHECK_OK(billcore_verifier_options_add_secret(options, SECRET, &err));
  add_account(options, "17", SECRET);
  CHECK_FAILS(billcore_verifier_new(none, options, &verifier, &err), BILLCORE_ERROR_CONFIG, "no account");
  billcore_verifier_options_free(options);
  billcore_buf_free(&signature);
}

/* A verifier with a key of another length and with another header. Equal headers count as one. */
static void test_headers(billcore_str body, billcore_str signature) {
  billcore_verifier_options* options = new_options();
  billcore_verifier* verifier = NULL;
  billcore_headers* headers = NULL;
  billcore_event* event = NULL;
  CHECK_OK(billcore_verifier_options_add_secret(options, SECRET, &err));
  CHECK_OK(billcore_verifier_options_allow_any_key_length(options, &err));
  CHECK_OK(billcore_verifier_options_set_header(options, BILLCORE_STR("X-OTHER"), &err));
  CHECK_OK(billcore_verifier_new(BILLCORE_STR("short"), options, &verifier, &err));
  billcore_verifier_options_free(options);
  CHECK_REFUSED(billcore_verifier_unwrap_request(verifier, body, NULL, &event, &err), BILLCORE_REASON_MISSING, 401);
  CHECK_OK(billcore_headers_new(&headers, &err));
  CHECK_OK(billcore_headers_add(headers, BILLCORE_STR("Service-Signature"), BILLCORE_STR("not this one"), &err));
  for (int i = 0; i < 2; ++i) {
    CHECK_OK(billcore_headers_add(headers, BILLCORE_STR("x-other"), signature, &err));
    CHECK_OK(billcore_verifier_unwrap_request(verifier, body, headers, &event, &err));
    billcore_event_free(event);
  }
  billcore_headers_free(headers);
  billcore_verifier_free(verifier);
}

int main(void) {
  const billcore_str body = billcore_str_from(body_text);
  billcore_buf signature = signature_of(body);
  test_freshness(body, view_of(signature));
  test_stream(body, view_of(signature));
  test_explain(body, view_of(signature));
  test_accounts();
  test_headers(body, view_of(signature));
  billcore_buf_free(&signature);
  return 0;
}
