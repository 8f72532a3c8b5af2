/* Wrappers of the C client for cgo. The wrappers return structs, so that Go need not pass output parameters (pointers
 * to pointers). */
#ifndef BILLCORE_GO_CLIENT_H
#define BILLCORE_GO_CLIENT_H

#include <billcore/loop.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"

#define BC_CALL (const billcore_call_options*)call

typedef const billcore_client* bc_client;
typedef const billcore_options* bc_given;

/* ---- options ---- */

BG_NEW(billcore_options, bc_options, (billcore_options_kind kind), billcore_options_new(kind, &out, &made.err))
BG_CALL(bc_set_text, (billcore_options * to, const char* name, size_t n, const char* value, size_t len),
        billcore_options_set_text(to, bg_str(name, n), bg_str(value, len), &made.err))
BG_CALL(bc_set_int64, (billcore_options * to, const char* name, size_t n, int64_t value),
        billcore_options_set_int64(to, bg_str(name, n), value, &made.err))
BG_CALL(bc_set_bool, (billcore_options * to, const char* name, size_t n, bool value),
        billcore_options_set_bool(to, bg_str(name, n), value, &made.err))
BG_CALL(bc_set_json, (billcore_options * to, const char* name, size_t n, const char* json, size_t len),
        billcore_options_set_json(to, bg_str(name, n), bg_str(json, len), &made.err))
BG_CALL(bc_add,
        (billcore_options * to, const char* name, size_t n, const char* key, size_t k, const char* value, size_t len),
        billcore_options_add(to, bg_str(name, n), bg_str(key, k), bg_str(value, len), &made.err))

/* ---- options of one call ---- */

void billcoreGoHook(void* context, billcore_attempt* attempt); /* hooks.go */

typedef struct bc_call {
  billcore_options* options;
  billcore_cancel* cancel;
  billcore_error* err;
  billcore_status status;
} bc_call;

/* A negative timeout_ms means that the client's own time-out applies; hooks is 0 when the client has no hooks. */
static inline bc_call bc_call_new(bool cancellable, int64_t timeout_ms, uintptr_t hooks) {
  bc_call call = {NULL, NULL, NULL, BILLCORE_OK};
  call.status = billcore_options_new(BILLCORE_OPTIONS_OF_CALL, &call.options, &call.err);
  if (call.status == BILLCORE_OK && cancellable) {
    call.status = billcore_cancel_new(&call.cancel, &call.err);
    if (call.status == BILLCORE_OK) call.status = billcore_options_set_cancel(call.options, call.cancel, &call.err);
  }
  if (call.status == BILLCORE_OK && timeout_ms >= 0)
    call.status = billcore_options_set_int64(call.options, BILLCORE_STR("timeout_ms"), timeout_ms, &call.err);
  if (call.status == BILLCORE_OK && hooks != 0)
    call.status = billcore_options_set_hook(call.options, (billcore_hook)billcoreGoHook, (void*)hooks, NULL, &call.err);
  return call;
}
static inline void bc_call_free(billcore_options* options, billcore_cancel* cancel) {
  billcore_options_free(options);
  billcore_cancel_free(cancel);
}

/* ---- client ---- */

BG_NEW(billcore_client, bc_client_new, (const billcore_options* options),
       billcore_client_new((const billcore_client_options*)options, &out, &made.err))
BG_NEW(billcore_client, bc_client_with, (const billcore_client* client, const billcore_options* changes),
       billcore_client_with_options(client, (const billcore_client_changes*)changes, &out, &made.err))
BG_CALL(bc_client_close, (billcore_client * client), billcore_client_close(client, &made.err))

/* ---- operations ---- */

/* Sets the arguments that operation.go has packed: for each the kind ('t' or 'i'), the length of the name in a byte, the
 * name, an int64_t (the integer, or the length of the text) and the text. */
static inline billcore_status bc_set(billcore_operation* to, const char* at, size_t len, billcore_error** err) {
  const char* const end = at + len;
  billcore_status status = BILLCORE_OK;
  while (status == BILLCORE_OK && at < end) {
    const char kind = at[0];
    const billcore_str name = bg_str(at + 2, (unsigned char)at[1]);
    int64_t value = 0;
    at = name.data + name.len;
    memcpy(&value, at, sizeof value);
    at += sizeof value;
    if (kind == 'i') {
      status = billcore_operation_set_int64(to, name, value, err);
    } else {
      status = billcore_operation_set_text(to, name, bg_str(at, (size_t)value), err);
      at += value;
    }
  }
  return status;
}
static inline billcore_operation* bc_operation(const char* name, size_t n, const char* arguments, size_t len,
                                               bc_given options, bg_made* made) {
  billcore_operation* out = NULL;
  made->status = billcore_operation_new(bg_str(name, n), &out, &made->err);
  if (made->status == BILLCORE_OK) made->status = bc_set(out, arguments, len, &made->err);
  if (made->status == BILLCORE_OK) made->status = billcore_operation_set_options(out, options, &made->err);
  return out;
}
/* What the result has: a resource, a response, a page or NULL, as the operation has it. */
static inline bg_made bc_taken(billcore_result* result) {
  bg_made made = {NULL, NULL, BILLCORE_OK};
  billcore_resource* resource = NULL;
  billcore_response* response = NULL;
  billcore_page* page = NULL;
  const billcore_result_kind kind = billcore_result_kind_of(result);
  switch (kind) {
    case BILLCORE_RESULT_NONE:
      break;
    case BILLCORE_RESULT_RESPONSE:
      made.status = billcore_result_take_response(&result, &response, &made.err);
      made.out = response;
      break;
    case BILLCORE_RESULT_PAGE:
      made.status = billcore_result_take_page(&result, &page, &made.err);
      made.out = page;
      break;
    default:
      made.status = billcore_result_take_resource(&result, kind, &resource, &made.err);
      made.out = resource;
  }
  return made;
}
static inline bg_made bc_perform(bc_client client, const char* name, size_t n, const char* arguments, size_t len,
                                 bc_given options, bc_given call) {
  bg_made made = {NULL, NULL, BILLCORE_OK};
  billcore_result* result = NULL;
  billcore_operation* operation = bc_operation(name, n, arguments, len, options, &made);
  if (made.status == BILLCORE_OK) made.status = billcore_client_perform(client, operation, BC_CALL, &result, &made.err);
  if (made.status == BILLCORE_OK) made = bc_taken(result);
  billcore_operation_free(operation);
  return made;
}
static inline bg_made bc_list(bc_client client, const char* name, size_t n, const char* arguments, size_t len,
                              bc_given options, bc_given call) {
  bg_made made = {NULL, NULL, BILLCORE_OK};
  billcore_list* list = NULL;
  billcore_operation* operation = bc_operation(name, n, arguments, len, options, &made);
  if (made.status == BILLCORE_OK) made.status = billcore_client_list(client, operation, BC_CALL, &list, &made.err);
  made.out = list;
  billcore_operation_free(operation);
  return made;
}

BG_CALL(bc_found_charges, (const billcore_error* error),
        billcore_subscription_found_charges(error, (billcore_order_page**)&made.out, &made.err))

/* ---- calls on a loop: see reactor.go ---- */

typedef struct bc_end {
  billcore_ticket ticket;
  bg_made made;
} bc_end;

enum { BC_ENDS = 64 };

typedef struct bc_loop {
  billcore_loop* loop;
  bc_end ends[BC_ENDS]; /* what bc_take has taken */
} bc_loop;

typedef struct bc_new_loop {
  bc_loop* loop;
  billcore_error* err;
  billcore_status status;
  int descriptor; /* a duplicate of the loop's, for Go's poller, which owns and closes what it watches */
} bc_new_loop;

static inline void bc_loop_free(bc_loop* loop) {
  if (loop != NULL) billcore_loop_free(loop->loop);
  free(loop);
}
static inline bc_new_loop bc_loop_make(bc_client client) {
  bc_new_loop made = {NULL, NULL, BILLCORE_ERROR_OUT_OF_MEMORY, -1};
  bc_loop* out = calloc(1, sizeof *out);
  if (out == NULL) return made;
  made.status = billcore_loop_new(client, &out->loop, &made.err);
  if (made.status == BILLCORE_OK) {
    made.descriptor = fcntl(billcore_loop_descriptor(out->loop), F_DUPFD_CLOEXEC, 0);
    if (made.descriptor < 0 || fcntl(made.descriptor, F_SETFL, O_NONBLOCK) != 0) made.status = BILLCORE_ERROR_INTERNAL;
  }
  if (made.status == BILLCORE_OK) {
    made.loop = out;
  } else {
    bc_loop_free(out);
  }
  return made;
}

typedef struct bc_started {
  billcore_ticket ticket;
  billcore_error* err;
  billcore_status status;
} bc_started;

/* The functions below begin a call. */
#define BC_START(name, parameters, call)      \
  static inline bc_started name parameters {  \
    bc_started made = {0, NULL, BILLCORE_OK}; \
    made.status = call;                       \
    return made;                              \
  }
#define BC_REST NULL, NULL, NULL, &made.ticket, &made.err
static inline bc_started bc_start(bc_loop* loop, const char* name, size_t n, const char* arguments, size_t len,
                                  bc_given options, bc_given call) {
  bc_started made = {0, NULL, BILLCORE_OK};
  bg_made operation = {NULL, NULL, BILLCORE_OK};
  billcore_operation* given = bc_operation(name, n, arguments, len, options, &operation);
  made.status = operation.status;
  made.err = operation.err;
  if (made.status == BILLCORE_OK) made.status = billcore_loop_start(loop->loop, given, BC_CALL, BC_REST);
  billcore_operation_free(given);
  return made;
}
BC_START(bc_find_charges, (bc_loop * loop, const billcore_error* charge, bc_given search, bc_given call),
         billcore_loop_find_charges(loop->loop, charge, (const billcore_charge_search*)search, BC_CALL, BC_REST))
BC_START(bc_find_charges_since,
         (bc_loop * loop, const char* id, size_t n, int64_t micros, bc_given search, bc_given call),
         billcore_loop_find_charges_since(loop->loop, bg_str(id, n), micros, (const billcore_charge_search*)search,
                                          BC_CALL, BC_REST))
BC_START(bc_fetch, (bc_loop * loop, billcore_list* list), billcore_loop_fetch(loop->loop, list, BC_REST))
/* Lets the next calls have the options of this client. */
BG_CALL(bc_use, (bc_loop * loop, bc_client client), billcore_loop_use_client(loop->loop, client, &made.err))

typedef struct bc_processed {
  size_t ends;
  bool more;   /* process again: the descriptor stays readable, or further ends wait */
  bool failed; /* memory ran out: make a pause before that */
} bc_processed;

/* Takes the ends of calls that have ended by now. */
static inline bc_processed bc_take(bc_loop* loop) {
  bc_processed did = {0, false, false};
  billcore_result* result = NULL;
  billcore_error* failure = NULL;
  for (; did.ends < BC_ENDS; ++did.ends) {
    bc_end* const end = &loop->ends[did.ends];
    if (billcore_loop_next(loop->loop, &end->ticket, &result, &failure, NULL) != BILLCORE_OK) return did;
    end->made = bc_taken(result);
    if (failure != NULL) end->made = (bg_made){NULL, failure, billcore_error_status(failure)};
  }
  did.more = true;
  return did;
}
static inline bc_processed bc_process(bc_loop* loop) {
  bool more = false;
  const bool failed = billcore_loop_process(loop->loop, &more, NULL) != BILLCORE_OK;
  bc_processed did = bc_take(loop);
  did.more = did.more || more || failed;
  did.failed = failed;
  return did;
}
static inline void bc_cancel(bc_loop* loop, billcore_ticket ticket) {
  (void)!billcore_loop_cancel(loop->loop, ticket, NULL);
}

/* ---- answers to requests ---- */

typedef struct bc_answer {
  billcore_str body, request_id;
  size_t headers;
  billcore_response_info* info; /* contains request_id and the header fields: copy them, then free info */
  billcore_error* err;
  billcore_status status;
  int32_t http_status, attempts;
} bc_answer;

static inline bc_answer bc_answer_of(const billcore_response* response) {
  bc_answer a = {.status = BILLCORE_OK};
  a.status = billcore_response_body(response, &a.body, &a.err);
  if (a.status == BILLCORE_OK) a.status = billcore_response_get_info(response, &a.info, &a.err);
  if (a.status == BILLCORE_OK) a.status = billcore_response_info_status(a.info, &a.http_status, &a.err);
  if (a.status == BILLCORE_OK) a.status = billcore_response_info_attempts(a.info, &a.attempts, &a.err);
  if (a.status == BILLCORE_OK) a.status = billcore_response_info_request_id(a.info, &a.request_id, &a.err);
  if (a.status == BILLCORE_OK) a.status = billcore_response_info_header_count(a.info, &a.headers, &a.err);
  return a;
}

typedef struct bc_header {
  billcore_str name, value;
  billcore_status status;
} bc_header;

static inline bc_header bc_header_at(const billcore_response_info* info, size_t index) {
  bc_header h = {.status = BILLCORE_OK};
  h.status = billcore_response_info_header_at(info, index, &h.name, &h.value, NULL);
  return h;
}

/* ---- lists ---- */

typedef struct bc_page {
  billcore_page* page;
  size_t count, item_bytes; /* item_bytes is the length of the first item's JSON text */
  billcore_error* err;
  billcore_status status;
} bc_page;

static inline bc_page bc_next_page(billcore_list* list) {
  bc_page p = {.status = BILLCORE_OK};
  billcore_resource* first = NULL;
  billcore_str text = {NULL, 0};
  p.status = billcore_list_peek_page(list, &p.page, &p.err);
  if (p.status == BILLCORE_OK) p.status = billcore_page_count(p.page, &p.count, &p.err);
  if (p.status == BILLCORE_OK && p.count > 0 && billcore_page_at(p.page, 0, &first, NULL) == BILLCORE_OK &&
      billcore_resource_raw(first, &text, NULL) == BILLCORE_OK)
    p.item_bytes = text.len;
  billcore_resource_free(first);
  return p;
}
BG_CALL(bc_skip, (billcore_list * list, size_t read), billcore_list_skip(list, read, &made.err))
BG_CALL(bc_stop, (billcore_list * list), billcore_list_stop(list, &made.err))
BG_NEW(billcore_resource, bc_first, (billcore_list * list), billcore_list_first(list, &out, &made.err))

typedef struct bc_standing {
  billcore_buf state;
  billcore_str reason;
  int64_t total, pages;
  billcore_error* err;
  billcore_status status;
  bool has_total, has_verdict, complete;
} bc_standing;

static inline bc_standing bc_standing_of(const billcore_list* list) {
  bc_standing s = {.status = BILLCORE_OK};
  s.status = billcore_list_state(list, &s.state, &s.err);
  if (s.status == BILLCORE_OK) s.status = billcore_list_total(list, &s.total, &s.has_total, &s.err);
  if (s.status == BILLCORE_OK) s.status = billcore_list_fetched_pages(list, &s.pages, &s.err);
  if (s.status == BILLCORE_OK) s.status = billcore_list_verdict(list, &s.complete, &s.reason, &s.has_verdict, &s.err);
  return s;
}

/* ---- pages of a list ---- */

/* Reads a time field of all items of a page into INTEGER cells (microseconds). The kind of a cell is OTHER when the
 * getter of the item's field returns an error. */
static inline void bc_instants(const billcore_page* page, const char* name, size_t len, billcore_cell* cells,
                               size_t count) {
  for (size_t i = 0; i < count; ++i) {
    billcore_resource* item = NULL;
    bool present = true;
    cells[i].kind = BILLCORE_CELL_OTHER;
    if (billcore_page_at(page, i, &item, NULL) == BILLCORE_OK &&
        billcore_resource_time(item, bg_str(name, len), NULL, &cells[i].number, &present, NULL) == BILLCORE_OK)
      cells[i].kind = present ? BILLCORE_CELL_INTEGER : BILLCORE_CELL_ABSENT;
    billcore_resource_free(item);
  }
}
static inline billcore_status bc_column(const billcore_page* page, const char* name, size_t len, billcore_cell* cells,
                                        size_t count) {
  return billcore_page_column(page, bg_str(name, len), cells, count, NULL);
}
BG_NEW(billcore_resource, bc_item, (const billcore_page* page, size_t index),
       billcore_page_at(page, index, &out, &made.err))

typedef struct bc_numbers {
  int64_t total, count, per_page, current_page, total_pages;
  billcore_str next, previous;
  billcore_resource* keeps; /* owns the texts of next and previous; the caller must free it */
  billcore_error* err;
  billcore_status status;
} bc_numbers;

/* A number that the page lacks, or that is not an integer, becomes -1, and such a link becomes empty: the caller gets
 * the records of the page in any case. */
static inline bc_numbers bc_numbers_of(const billcore_page* page) {
  bc_numbers n = {.status = BILLCORE_OK};
  bool present = false;
  n.status = billcore_page_numbers(page, &n.keeps, &n.err);
  if (n.status != BILLCORE_OK) return n;
#define BC_NUMBER(name) \
  if (billcore_resource_int64(n.keeps, BILLCORE_STR(#name), &n.name, NULL, NULL) != BILLCORE_OK) n.name = -1
  BC_NUMBER(total);
  BC_NUMBER(count);
  BC_NUMBER(per_page);
  BC_NUMBER(current_page);
  BC_NUMBER(total_pages);
#undef BC_NUMBER
#define BC_LINK(name)                                                                                             \
  if (billcore_resource_text(n.keeps, BILLCORE_STR("/links/" #name "?"), &n.name, &present, NULL) != BILLCORE_OK) \
  n.name = (billcore_str){NULL, 0}
  BC_LINK(next);
  BC_LINK(previous);
#undef BC_LINK
  return n;
}
static inline size_t bc_page_count(const billcore_page* page) {
  size_t count = 0;
  return billcore_page_count(page, &count, NULL) == BILLCORE_OK ? count : 0;
}

#endif
