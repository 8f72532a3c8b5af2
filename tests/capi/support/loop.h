/* Helpers for the tests of loops: the answers of the server, calls whose callbacks note what they were given, and ways
 * to drive a loop. Each test program has its own copy of the variables. */
#ifndef LOOP_H
#define LOOP_H

#include <poll.h>
#include <stdatomic.h>

#include "client.h"

#define PAGE(items, number)                                                                               \
  "{\"data\":[" items "],\"pagination\":{\"total\":4,\"count\":2,\"per_page\":2,\"current_page\":" number \
  ",\"total_pages\":2,\"links\":{}}}"
#define FOUND                                                                                               \
  "{\"data\":[{\"id\":\"new\",\"total\":1500,\"state\":\"paid\",\"created_at\":\"2999-01-01T00:00:00Z\"}]," \
  "\"pagination\":{\"total\":1,\"count\":1,\"per_page\":200,\"current_page\":1,\"total_pages\":1,\"links\":{}}}"

static const billcore_status invalid = BILLCORE_ERROR_INVALID_ARGUMENT;
static billcore_error* err;
static atomic_int requests; /* number of requests that the server has seen */
static atomic_bool fails_pages;

static inline const char* answer(const char* request) {
  ++requests;
  if (strstr(request, "held") != NULL) return NULL;
  if (strncmp(request, "DELETE", 6) == 0) return "HTTP/1.1 204 No Content" HEAD;
  if (strstr(request, "/order/none") != NULL) return "HTTP/1.1 404 Not Found" HEAD "{}";
  if (strstr(request, "/subscription/lost/orders") != NULL) return "HTTP/1.1 404 Not Found" HEAD "{}";
  if (strstr(request, "per_page=200") != NULL) return "HTTP/1.1 200 OK" HEAD FOUND;
  if (strstr(request, "page=2") != NULL)
    return fails_pages ? "HTTP/1.1 404 X" HEAD "{}" : "HTTP/1.1 200 OK" HEAD PAGE(ORDER("c") "," ORDER("d"), "2");
  if (strstr(request, "page=1") != NULL) return "HTTP/1.1 200 OK" HEAD PAGE(ORDER("a") "," ORDER("b"), "1");
  return "HTTP/1.1 200 OK" HEAD "{\"data\":" ORDER("o") "}";
}

/* ---- calls of the tests ---- */

static inline billcore_loop* new_loop(const billcore_client* client) {
  billcore_loop* out = NULL;
  CHECK_OK(billcore_loop_new(client, &out, &err));
  CHECK(billcore_loop_descriptor(out) >= 0 && billcore_loop_running(out) == 0);
  return out;
}

static inline billcore_operation* make(const char* name, const char* id) {
  billcore_operation* out = NULL;
  CHECK_OK(billcore_operation_new(billcore_str_from(name), &out, &err));
  if (id != NULL) CHECK_OK(billcore_operation_set_text(out, BILLCORE_STR("id"), billcore_str_from(id), &err));
  return out;
}

static inline billcore_operation* make_charge(const char* id) {
  billcore_operation* out = make("subscriptions.charge", id);
  CHECK_OK(billcore_operation_set_int64(out, BILLCORE_STR("product_id"), 7, &err));
  CHECK_OK(billcore_operation_set_int64(out, BILLCORE_STR("amount"), 1500, &err));
  return out;
}

/* What the callbacks of a call note. */
typedef struct {
  billcore_loop* loop;
  int ends;
  int releases;
  billcore_status status;
  billcore_result* result;
  billcore_error* failure;
  void (*then)(void); /* called by note_end */
} noted;

static bool processing;

static inline void note_end(void* context, billcore_ticket ticket, billcore_result* result, billcore_error* failure) {
  noted* self = context;
  CHECK(processing && ticket != 0);
  ++self->ends;
  CHECK(self->releases == 0);
  billcore_result_free(self->result);
  billcore_error_free(self->failure);
  self->result = result;
  self->failure = failure;
  self->status = billcore_error_status(failure);
  if (self->then != NULL) self->then();
}

static inline void note_release(void* context) { ++((noted*)context)->releases; }

static inline void forget(noted* self) {
  billcore_result_free(self->result);
  billcore_error_free(self->failure);
  *self = (noted){.loop = self->loop};
}

static inline billcore_ticket start(billcore_loop* loop, billcore_operation* operation, noted* context) {
  billcore_ticket ticket = 0;
  CHECK_OK(billcore_loop_start(loop, operation, NULL, note_end, context, note_release, &ticket, &err));
  CHECK(ticket != 0 && context->ends == 0);
  return ticket;
}

static inline billcore_ticket start_and_free(billcore_loop* loop, billcore_operation* operation, noted* context) {
  const billcore_ticket ticket = start(loop, operation, context);
  billcore_operation_free(operation); /* a call in flight does not need its operation */
  return ticket;
}

static inline billcore_status process(billcore_loop* loop, bool* more) {
  processing = true;
  const billcore_status status = billcore_loop_process(loop, more, &err);
  processing = false;
  return status;
}

static inline void wait_once(const billcore_loop* loop) {
  struct pollfd descriptor = {billcore_loop_descriptor(loop), POLLIN, 0};
  CHECK(poll(&descriptor, 1, -1) == 1);
}

static inline void drive_until(billcore_loop* loop, const int* number, int wanted) {
  while (*number < wanted) {
    wait_once(loop);
    CHECK(process(loop, NULL) == BILLCORE_OK);
  }
}

/* Drives the loop until the server has seen so many requests. */
static inline void drive_until_sent(billcore_loop* loop, int wanted) {
  while (requests < wanted) {
    struct pollfd descriptor = {billcore_loop_descriptor(loop), POLLIN, 0};
    CHECK(poll(&descriptor, 1, 1) >= 0);
    CHECK(process(loop, NULL) == BILLCORE_OK);
  }
}

static inline void expect_order(noted* self, const char* id) {
  billcore_order* order = NULL;
  billcore_str found;
  CHECK(self->ends == 1 && self->releases == 1 && self->status == BILLCORE_OK && self->failure == NULL);
  CHECK_OK(billcore_result_take_order(&self->result, &order, &err));
  CHECK_OK(billcore_order_id(order, &found, NULL, &err));
  CHECK(is_text(found, id));
  billcore_order_free(order);
  forget(self);
}

/* ---- lists ---- */

static inline billcore_order_list* list_of(const billcore_client* client, const char* id) {
  billcore_order_list* out = NULL;
  CHECK_OK(billcore_subscription_orders_new(client, billcore_str_from(id), NULL, NULL, &out, &err));
  return out;
}

static inline void fetch(billcore_loop* loop, billcore_order_list* list, noted* context) {
  CHECK_OK(billcore_loop_fetch(loop, (billcore_list*)list, note_end, context, note_release, NULL, &err));
  drive_until(loop, &context->ends, 1);
  CHECK(context->result == NULL && context->releases == 1);
}

#endif
