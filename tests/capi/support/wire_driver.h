/* The parts of the conformance driver in C. */
#ifndef WIRE_DRIVER_H
#define WIRE_DRIVER_H

#include "json_reply.h"

/* Kept from one request to the next. */
typedef struct driver {
  billcore_client* client;
  bytes made_with; /* JSON of the options the client was made with */
} driver;

/* One request on its way to its reply. The first call that fails stops the rest. */
typedef struct job {
  driver* driver;
  yyjson_val* request;
  yyjson_val* args;
  yyjson_mut_doc* reply;
  billcore_error* err;
  const char* problem; /* of the request itself */
  bool listing;
  size_t items_before;
  billcore_buf state; /* of a list that failed */
} job;

/* Each gives the reply, or NULL with job->err or job->problem set. */
typedef yyjson_mut_val* operation(job* self);

/* The operation of a client by its name in the protocol; NULL when there is none. */
operation* find_operation(const char* op);
/* Runs an operation whose name begins with "webhook.". */
yyjson_mut_val* run_webhook(job* self, const char* verb);

#endif
