/* The parts of the conformance driver in C. */
#ifndef WIRE_DRIVER_H
#define WIRE_DRIVER_H

#include "json_reply.h"

/* State that is kept from one request to the next. */
typedef struct driver {
  bool on_loop; /* run the operations on `loop`, not blocking */
  billcore_client* client;
  billcore_loop* loop;
  char* made_with; /* the options from which `client` was made, as JSON */
} driver;

/* State of one request to the driver. After a call has failed, the driver makes no further call for the request. */
typedef struct job {
  driver* driver;
  yyjson_val* request;
  yyjson_val* args;
  yyjson_mut_doc* reply;
  billcore_error* err;
  billcore_call_options* call; /* NULL if the request has no time-out of its own */
  const char* problem;         /* why the request is invalid; NULL if it is valid */
  yyjson_mut_val* items;       /* the items of a list; the reply contains them even if reading the list failed */
  billcore_buf state;          /* state of a list; the reply contains it even if reading the list failed */
} job;

static inline bool ok(billcore_status status) { return status == BILLCORE_OK; }

/* These functions return the reply, or set job->err or job->problem and return NULL. */

/* Waits for the one call of the driver's loop, which has just been started, and takes its result, which may be NULL. */
billcore_status end_of_call(job* self, billcore_result** result);
/* Sets the arguments of the operation, and runs it. */
yyjson_mut_val* run_operation(job* self, billcore_operation* operation);
/* Puts what a call has returned into the reply. */
yyjson_mut_val* put_result(job* self, billcore_result** result);
/* Runs the reads of all ids of a get_many; `read` is the operation of each, such as "orders.get". */
yyjson_mut_val* run_many(job* self, billcore_str read);
/* Runs the program that tests/faults/test_killed.py kills; returns its exit status. */
int run_charges(char** argv);
/* Reads what the request's `take` states, and frees the list. */
yyjson_mut_val* read_list(job* self, billcore_list* list);
/* Runs an operation whose name begins with "webhook.". */
yyjson_mut_val* run_webhook(job* self, const char* verb);

#endif
