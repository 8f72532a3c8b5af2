/* Makes signed events for tests. */
#ifndef EVENTS_H
#define EVENTS_H

#include "check.h"

#define SECRET BILLCORE_STR("0123456789abcdef0123456789abcdef")

static inline billcore_str view_of(billcore_buf buf) { return (billcore_str){buf.data, buf.len}; }

/* Returns the signature of `body` with SECRET; the caller frees it. */
static inline billcore_buf signature_of(billcore_str body) {
  billcore_buf out = {NULL, 0};
  CHECK_OK(billcore_webhook_sign(body, SECRET, &out, &err));
  CHECK(out.len == 64 && out.data[64] == '\0');
  return out;
}

/* Signs `body` with SECRET and unwraps it; the caller frees the event. */
static inline billcore_event* event_of(const char* body) {
  billcore_event* out = NULL;
  billcore_buf signature = signature_of(billcore_str_from(body));
  CHECK_OK(billcore_webhook_unwrap(billcore_str_from(body), view_of(signature), SECRET, &out, &err));
  billcore_buf_free(&signature);
  return out;
}

#endif
