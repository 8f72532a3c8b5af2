/* Assertion macros of the C tests. */
#ifndef CHECK_H
#define CHECK_H

#include <billcore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

/* The error output of a test's calls; NULL unless a call has failed. A thread has a variable of its own. */
static billcore_error* err;

/* The call must succeed. */
#define CHECK_OK(call)                                                                                          \
  do {                                                                                                          \
    const billcore_status check_status = (call);                                                                \
    if (check_status != BILLCORE_OK) {                                                                          \
      fprintf(stderr, "%s:%d: %s gave %s: %s\n", __FILE__, __LINE__, #call, billcore_status_name(check_status), \
              billcore_error_message(err).data);                                                                \
      exit(1);                                                                                                  \
    }                                                                                                           \
    CHECK(err == NULL);                                                                                         \
  } while (0)

/* The call must fail with this status; `err` must have the same status and a message that contains `words`. */
#define CHECK_FAILS(call, status, words)                                                                              \
  do {                                                                                                                \
    const billcore_status check_status = (call);                                                                      \
    const char* check_message = billcore_error_message(err).data;                                                     \
    if (check_status != (status) || billcore_error_status(err) != (status) || strstr(check_message, words) == NULL) { \
      fprintf(stderr, "%s:%d: %s gave %s: %s\n", __FILE__, __LINE__, #call, billcore_status_name(check_status),       \
              check_message);                                                                                         \
      exit(1);                                                                                                        \
    }                                                                                                                 \
    billcore_error_free(err);                                                                                         \
    err = NULL;                                                                                                       \
  } while (0)

/* The call must refuse an argument with a message that contains `words`. */
#define CHECK_INVALID(call, words) CHECK_FAILS(call, BILLCORE_ERROR_INVALID_ARGUMENT, words)

/* The call must refuse the delivery with reason `why` and HTTP status `http`. */
#define CHECK_REFUSED(call, why, http)                                                \
  do {                                                                                \
    CHECK((call) == BILLCORE_ERROR_SIGNATURE && billcore_error_reason(err) == (why)); \
    CHECK(billcore_error_http_status(err) == (http));                                 \
    billcore_error_free(err);                                                         \
    err = NULL;                                                                       \
  } while (0)

static inline bool is_text(billcore_str text, const char* expected) {
  return text.len == strlen(expected) && memcmp(text.data, expected, text.len) == 0;
}

#endif
