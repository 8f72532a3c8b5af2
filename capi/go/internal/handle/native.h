/* C code shared by the Go packages of this module. The functions return structs, so that Go need not pass output
 * parameters (pointers to pointers). */
#ifndef BILLCORE_GO_NATIVE_H
#define BILLCORE_GO_NATIVE_H

#include <billcore/event.h>

typedef struct bg_made {
  void* out;
  billcore_error* err;
  billcore_status status;
} bg_made;

/* Defines the wrapper NAME of one call of the library. The call writes its error to made.err; BG_NEW also declares `out`,
 * to which the call writes the new object. */
#define BG_CALL(name, parameters, call)       \
  static inline bg_made name parameters {     \
    bg_made made = {NULL, NULL, BILLCORE_OK}; \
    made.status = call;                       \
    return made;                              \
  }
#define BG_NEW(type, name, parameters, call)  \
  static inline bg_made name parameters {     \
    bg_made made = {NULL, NULL, BILLCORE_OK}; \
    type* out = NULL;                         \
    made.status = call;                       \
    made.out = out;                           \
    return made;                              \
  }

static inline billcore_str bg_str(const char* data, size_t len) {
  billcore_str text = {data, len};
  return text;
}

typedef struct bg_head {
  billcore_event* event;
  billcore_str id;
  billcore_error* err;
  billcore_status status;
  billcore_event_kind kind;
  billcore_data_kind data_kind;
} bg_head;

/* Reads the id and the kinds of a new event, and returns them with the event. `id` is empty when the event's id cannot
 * be read. */
static inline bg_head bg_event_head(billcore_status status, billcore_event* event, billcore_error* err) {
  bg_head head = {NULL, {NULL, 0}, err, status, BILLCORE_EVENT_UNKNOWN, BILLCORE_DATA_NONE};
  if (status != BILLCORE_OK) return head;
  head.event = event;
  if (billcore_event_id(event, &head.id, NULL, NULL) != BILLCORE_OK) head.id = bg_str(NULL, 0);
  if (billcore_event_type(event, &head.kind, NULL) != BILLCORE_OK) head.kind = BILLCORE_EVENT_UNKNOWN;
  if (billcore_event_data_kind(event, &head.data_kind, NULL) != BILLCORE_OK) head.data_kind = BILLCORE_DATA_NONE;
  return head;
}

#endif
