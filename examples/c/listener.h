/* A small HTTP server on loopback: passes every POST to a function, answers with the status it returns. */
#ifndef EXAMPLE_LISTENER_H
#define EXAMPLE_LISTENER_H

#include <billcore/webhook.h>
#include <stdint.h>

/* Called from the server's thread, with the body and the header fields. */
typedef unsigned (*listener_receive)(void* context, billcore_str body, const billcore_headers* headers);

typedef struct listener listener;

/* Listens on a port until listener_free; on a free one for 0. NULL on failure, with errno. */
listener* listener_new(uint16_t port, listener_receive receive, void* context);
unsigned listener_port(const listener* server);
void listener_free(listener* server);

#endif
