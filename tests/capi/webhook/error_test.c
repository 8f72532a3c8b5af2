/* Tests status numbers, the getters of errors for NULL, texts, and ids. */
#include "support/check.h"

static void test_numbers(void) {
#define ROW(name) \
  { BILLCORE_ERROR_##name, #name }
  /* A number never changes: the rows are in the order of the numbers. */
  static const struct {
    billcore_status status;
    const char* name;
  } table[] = {{BILLCORE_OK, "OK"},   {BILLCORE_DONE, "DONE"},
               ROW(INVALID_ARGUMENT), ROW(CONFIG),
               ROW(OUT_OF_MEMORY),    ROW(INTERNAL),
               ROW(SIGNATURE),        ROW(DECODE),
               ROW(OUT_OF_RANGE),     ROW(API),
               ROW(AUTHENTICATION),   ROW(PAYMENT),
               ROW(NOT_FOUND),        ROW(VALIDATION),
               ROW(RATE_LIMIT),       ROW(SERVER),
               ROW(TRANSPORT),        ROW(TIMEOUT),
               ROW(CONNECTION),       ROW(TLS),
               ROW(OUTCOME_UNKNOWN),  ROW(PAGINATION),
               ROW(INTERRUPTED),      ROW(MISSING_FIELD),
               ROW(BAD_REQUEST),      ROW(PERMISSION_DENIED),
               ROW(CONFLICT),         ROW(POSSIBLY_MISSED)};
#undef ROW
  const int count = sizeof table / sizeof *table;
  for (int i = 0; i < count; ++i) {
    CHECK(table[i].status == i && strcmp(billcore_status_name(i), table[i].name) == 0);
  }
  CHECK(strcmp(billcore_status_name(count), "UNKNOWN") == 0 && strcmp(billcore_status_name(-1), "UNKNOWN") == 0);
  static const char* const reasons[] = {"none", "body_too_large", "missing", "malformed", "mismatch", "stale"};
  for (int i = 0; i < (int)(sizeof reasons / sizeof *reasons); ++i) {
    CHECK(strcmp(billcore_reason_name(i), reasons[i]) == 0);
  }
  CHECK(strcmp(billcore_reason_name(77), "none") == 0);
  CHECK(strcmp(billcore_version(), BILLCORE_VERSION) == 0);
}

static void test_no_error(void) {
  double seconds = 1;
  int64_t micros = 1;
  CHECK(billcore_error_status(NULL) == BILLCORE_OK && billcore_error_cause(NULL) == BILLCORE_OK);
  CHECK(billcore_error_http_status(NULL) == 0 && billcore_error_attempts(NULL) == 0);
  CHECK(!billcore_error_retry_after(NULL, &seconds) && seconds == 0);
  CHECK(!billcore_error_attempted_at(NULL, &micros) && micros == 0);
  CHECK(!billcore_error_outcome_unknown(NULL) && !billcore_error_sent_late(NULL));
  CHECK(billcore_error_reason(NULL) == BILLCORE_REASON_NONE);
  static billcore_str (*const texts[])(const billcore_error*) = {
      billcore_error_message, billcore_error_api_code,   billcore_error_api_message,
      billcore_error_body,    billcore_error_request_id, billcore_error_method,
      billcore_error_path,    billcore_error_field_path, billcore_error_cause_message,
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) CHECK(is_text(texts[i](NULL), ""));
  billcore_error_free(NULL);
  CHECK_INVALID(billcore_webhook_parse_unverified(BILLCORE_STR("{}"), NULL, &err), "output");
}

static void test_texts_and_ids(void) {
  const billcore_str none = billcore_str_from(NULL);
  CHECK(none.data == NULL && none.len == 0);
  CHECK(is_text(billcore_str_from("abc"), "abc") && is_text(BILLCORE_STR("abc"), "abc"));
  const billcore_str huge = {"7", SIZE_MAX};
  const struct {
    billcore_str a, b;
    bool same;
  } rows[] = {{BILLCORE_STR("7"), billcore_str_from("7"), true},
              {BILLCORE_STR("7"), BILLCORE_STR("07"), false},
              {BILLCORE_STR("a"), BILLCORE_STR("A"), false},
              {BILLCORE_STR("a"), BILLCORE_STR("a\0"), false},
              {BILLCORE_STR(""), BILLCORE_STR(""), true},
              {BILLCORE_STR("7"), none, false},
              {none, BILLCORE_STR(""), false},
              {none, none, false},
              {huge, huge, false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    CHECK(billcore_same_id(rows[i].a, rows[i].b) == rows[i].same);
  }
}

int main(void) {
  test_numbers();
  test_no_error();
  test_texts_and_ids();
  return 0;
}
