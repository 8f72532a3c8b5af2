/* Helpers for the tests of loops: calls whose callbacks note what they were given, and ways to drive a loop. Each test
 * program has its own copy of the variables. */
#ifndef LOOP_H
#define LOOP_H

#include <poll.h>

#include "client.h"

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

static inline billcore_operation* make_get(const char* id) { return make("orders.get", id); }

static inline billcore_operation* make_charge(const char* id) {
  billcore_operation* out = make("subscriptions.charge", id);
  CHECK_OK(billcore_operation_set_int64(out, BILLCORE_STR("product_id"), 7, &err));
  CHECK_OK(billcore_operation_set_int64(out, BILLCORE_STR("amount"), 1500, &err));
  return out;
}

/* What the callbacks of a call note. */
typedef struct {
  int ends;
  int releases;
  billcore_ticket ticket;
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
  *self = (noted){0};
}

static inline void start_with(billcore_loop* loop, billcore_operation* operation, const billcore_call_options* options,
                              noted* context) {
  CHECK_OK(billcore_loop_start(loop, operation, options, note_end, context, note_release, &context->ticket, &err));
  CHECK(context->ticket != 0 && context->ends == 0);
}

static inline void start(billcore_loop* loop, billcore_operation* operation, noted* context) {
  start_with(loop, operation, NULL, context);
}

static inline void start_and_free(billcore_loop* loop, billcore_operation* operation, noted* context) {
  start(loop, operation, context);
  billcore_operation_free(operation); /* a call in flight does not need its operation */
}

static inline billcore_status process(billcore_loop* loop, bool* more) {
  processing = true;
  const billcore_status status = billcore_loop_process(loop, more, &err);
  processing = false;
  return status;
}

/* Waits until the descriptor is readable, or for so many milliseconds (-1: without end), then processes. */
static inline void turn(billcore_loop* loop, int milliseconds) {
  struct pollfd descriptor = {billcore_loop_descriptor(loop), POLLIN, 0};
  CHECK(poll(&descriptor, 1, milliseconds) >= 0);
  CHECK_OK(process(loop, NULL));
}

static inline void drive_until(billcore_loop* loop, const int* number, int wanted) {
  while (*number < wanted) turn(loop, -1);
}

/* Drives the loop until the server has seen so many requests. */
static inline void drive_until_sent(billcore_loop* loop, int wanted) {
  while (requests < wanted) turn(loop, 1);
}

/* Drives the loop until the call has ended with this status, and forgets it. */
static inline void expect_end(billcore_loop* loop, noted* self, billcore_status status) {
  drive_until(loop, &self->ends, 1);
  CHECK(self->ends == 1 && self->releases == 1 && self->status == status);
  CHECK(status == BILLCORE_OK || self->result == NULL);
  forget(self);
}

static inline void expect_order(billcore_loop* loop, noted* self) {
  billcore_order* order = NULL;
  drive_until(loop, &self->ends, 1);
  CHECK(self->failure == NULL);
  CHECK_OK(billcore_result_take_order(&self->result, &order, &err));
  expect_id(order, "o");
  expect_end(loop, self, BILLCORE_OK);
}

/* Starts the fetch of a page. */
static inline void fetch(billcore_loop* loop, billcore_order_list* list, noted* context) {
  billcore_list* const given = (billcore_list*)(void*)list;
  CHECK_OK(billcore_loop_fetch(loop, given, note_end, context, note_release, &context->ticket, &err));
}

#endif
