/* A small HTTP server on loopback that passes every POST to a function and answers with the returned status. */
#ifndef EXAMPLE_LISTENER_H
#define EXAMPLE_LISTENER_H

#include <billcore/webhook.h>
#include <stdint.h>

/* A function that the server's thread calls with the body and the header fields; it returns the HTTP status. */
typedef unsigned (*listener_receive)(void* context, billcore_str body, const billcore_headers* headers);

typedef struct listener listener;

/* Listens on a port until listener_free; 0 means any free port. On failure returns NULL and sets errno. */
listener* listener_new(uint16_t port, listener_receive receive, void* context);
unsigned listener_port(const listener* server);
void listener_free(listener* server);

#endif
