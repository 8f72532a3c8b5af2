/* Signed events to test with. */
#ifndef EVENTS_H
#define EVENTS_H

#include "check.h"

#define SECRET BILLCORE_STR("0123456789abcdef0123456789abcdef")

/* The event a body makes, signed with SECRET; free it. */
static inline billcore_event* event_of(const char* body) {
  billcore_error* err = NULL;
  billcore_event* out = NULL;
  billcore_buf signature = {NULL, 0};
  CHECK_OK(billcore_webhook_sign(billcore_str_from(body), SECRET, &signature, &err));
  CHECK(signature.len == 64 && signature.data[64] == '\0');
  CHECK_OK(billcore_webhook_unwrap(billcore_str_from(body), (billcore_str){signature.data, signature.len}, SECRET, &out,
                                   &err));
  billcore_buf_free(&signature);
  return out;
}

#endif
