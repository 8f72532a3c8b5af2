/* A server on loopback for one test: it answers what it is told and hangs up. */
#ifndef SERVER_H
#define SERVER_H

#include <stddef.h>

typedef struct server server;

/* The whole answer to a request (head and body as received); static text. NULL: none, the connection is kept open
 * until the server stops. Called on the server's thread, one request after the other. */
typedef const char* (*server_answer)(const char* request);

server* server_start(server_answer answer);
/* "http://127.0.0.1:PORT/acct"; lives as long as the server. */
const char* server_url(const server* self);
/* Stops and frees it. */
void server_stop(server* self);

#endif
