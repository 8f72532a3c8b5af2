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
#define BG_EVENT(number) ((const billcore_event*)(number))

BG_FIELD(bg_event_raw, (uintptr_t event), billcore_event_raw(BG_EVENT(event), &f.text, &f.err))
BG_FIELD(bg_event_require_claimable, (uintptr_t event), billcore_event_require_claimable(BG_EVENT(event), &f.err))
BG_FIELD_OF(billcore_value*, bg_event_data, (uintptr_t event),
            billcore_event_data(BG_EVENT(event), &out, &f.present, &f.err), f = bg_raw_of(out, f))
/* The event's data as a resource of the given kind. */
BG_FIELD_OF(billcore_resource*, bg_event_resource, (uintptr_t event, billcore_data_kind kind),
            billcore_event_resource(BG_EVENT(event), kind, &out, &f.err), f.made = out)
/* The event's data as a resource; the data itself determines the resource's kind. */
static bg_field bg_data(uintptr_t event) {
  billcore_data_kind kind = BILLCORE_DATA_NONE;
  bg_field f = {.present = true};
  f.status = billcore_event_data_kind(BG_EVENT(event), &kind, &f.err);
  return f.status == BILLCORE_OK ? bg_event_resource(event, kind) : f;
}

#endif
