/* A small HTTP server on loopback: passes every POST to a function, answers with the status it returns. */
#ifndef EXAMPLE_LISTENER_H
#define EXAMPLE_LISTENER_H

#include <billcore.h>

/* Called from the server's thread, with the body and the header fields. */
typedef unsigned (*listener_receive)(void* context, billcore_str body, const billcore_headers* headers);

typedef struct listener listener;

/* Listens on a free port until listener_free. NULL on failure. */
listener* listener_new(listener_receive receive, void* context);
unsigned listener_port(const listener* server);
void listener_free(listener* server);

#endif
