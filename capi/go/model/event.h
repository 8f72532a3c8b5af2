/* Events, by value. */
#ifndef BILLCORE_GO_EVENT_H
#define BILLCORE_GO_EVENT_H

#include <billcore/webhook.h>

#include "record.h"

typedef struct bg_head {
  billcore_resource* data;
  billcore_event_kind kind;
  billcore_data_kind data_kind;
} bg_head;

/* What every reader of an event needs, in one call. The data is NULL when it is no object. */
static bg_head bg_event_head(const billcore_event* event) {
  bg_head head = {NULL, BILLCORE_EVENT_UNKNOWN, BILLCORE_DATA_NONE};
  if (billcore_event_type(event, &head.kind, NULL) != BILLCORE_OK) head.kind = BILLCORE_EVENT_UNKNOWN;
  if (billcore_event_data_kind(event, &head.data_kind, NULL) != BILLCORE_OK) head.data_kind = BILLCORE_DATA_NONE;
  if (head.data_kind >= BILLCORE_DATA_SUBSCRIPTION && head.data_kind <= BILLCORE_DATA_RESOURCE &&
      billcore_event_resource(event, head.data_kind, &head.data, NULL) != BILLCORE_OK)
    head.data = NULL;
  return head;
}
static bg_made bg_parse(const char* data, size_t len) {
  bg_made made = {NULL, NULL, BILLCORE_OK};
  billcore_event* event = NULL;
  made.status = billcore_webhook_parse_unverified(bg_str(data, len), &event, &made.err);
  made.out = event;
  return made;
}
static bg_field bg_event_raw(const billcore_event* event) {
  bg_field f = {.present = true};
  f.status = billcore_event_raw(event, &f.text, &f.err);
  return f;
}
static bg_field bg_event_data(const billcore_event* event) {
  bg_field f = {.present = true};
  billcore_value* value = NULL;
  f.status = billcore_event_data(event, &value, &f.present, &f.err);
  return bg_raw_of(value, f);
}
static bg_field bg_event_resource(const billcore_event* event, billcore_data_kind kind) {
  bg_field f = {.present = true};
  billcore_resource* data = NULL;
  f.status = billcore_event_resource(event, kind, &data, &f.err);
  billcore_resource_free(data);
  return f;
}

#endif
