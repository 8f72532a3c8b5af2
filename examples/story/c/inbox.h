/* Handles webhook deliveries: verifies the raw bytes, parses them, drops duplicates, and keeps the other events. */
#ifndef EXAMPLE_INBOX_H
#define EXAMPLE_INBOX_H

#include <billcore.h>
#include <pthread.h>

enum { INBOX_MAX = 64 };

/* Read the arrays of an inbox only after inbox_wait. */
typedef struct inbox {
  billcore_event* events[INBOX_MAX];
  size_t event_count;
  billcore_event* duplicates[INBOX_MAX];
  size_t duplicate_count;
  billcore_reason refused[INBOX_MAX];
  size_t refused_count;
  billcore_verifier* verifier;
  pthread_mutex_t lock;
  pthread_cond_t changed;
} inbox;

void inbox_init(inbox* box);
void inbox_destroy(inbox* box);
/* Sets the endpoint's secret, which the service creates when the URL is registered. */
void inbox_trust(inbox* box, const char* secret);
/* Handles one delivery and returns the HTTP status of the answer. May be called from any thread. Pass inbox_receive
 * to a listener, with the inbox as the context. */
unsigned inbox_receive(void* context, billcore_str body, const billcore_headers* headers);
/* Waits until at least this many events and duplicates have arrived, or 30 seconds have passed. */
void inbox_wait(inbox* box, size_t events, size_t duplicates);

#endif
