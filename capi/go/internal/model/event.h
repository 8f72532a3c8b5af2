/* Wrappers of the C functions on events, for cgo; each wrapper returns a struct. */
#ifndef BILLCORE_GO_EVENT_H
#define BILLCORE_GO_EVENT_H

#include <billcore/webhook.h>

#include "record.h"

static inline bg_head bg_parse(const char* text, size_t len) {
  billcore_event* event = NULL;
  billcore_error* err = NULL;
  const billcore_status status = billcore_webhook_parse_unverified(bg_str(text, len), &event, &err);
  return bg_event_head(status, event, err);
}
static bg_field bg_event_raw(uintptr_t event) {
  bg_field f = {.present = true};
  f.status = billcore_event_raw((const billcore_event*)event, &f.text, &f.err);
  return f;
}
static bg_field bg_event_require_claimable(uintptr_t event) {
  bg_field f = {.present = true};
  f.status = billcore_event_require_claimable((const billcore_event*)event, &f.err);
  return f;
}
static bg_field bg_event_data(uintptr_t event) {
  bg_field f = {.present = true};
  billcore_value* value = NULL;
  f.status = billcore_event_data((const billcore_event*)event, &value, &f.present, &f.err);
  return bg_raw_of(value, f);
}
/* The event's data as a resource of the given kind. */
static bg_field bg_event_resource(uintptr_t event, billcore_data_kind kind) {
  bg_field f = {.present = true};
  billcore_resource* data = NULL;
  f.status = billcore_event_resource((const billcore_event*)event, kind, &data, &f.err);
  f.made = data;
  return f;
}
/* The event's data as a resource; the data itself determines the resource's kind. */
static bg_field bg_data(uintptr_t event) {
  billcore_data_kind kind = BILLCORE_DATA_NONE;
  bg_field f = {.present = true};
  f.status = billcore_event_data_kind((const billcore_event*)event, &kind, &f.err);
  return f.status == BILLCORE_OK ? bg_event_resource(event, kind) : f;
}

#endif
