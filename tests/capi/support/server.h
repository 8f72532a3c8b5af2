/* A server on loopback for one test: it sends the answer that the test's function returns, then disconnects. */
#ifndef SERVER_H
#define SERVER_H

#include <stddef.h>

typedef struct server server;

/* The function gets a request (head and body as received) and returns the whole answer as static text. If the
 * function returns NULL, the server keeps the connection open and silent until server_stop(). Only the server's
 * thread calls the function. */
typedef const char* (*server_answer)(const char* request);

server* server_start(server_answer answer);
/* "http://127.0.0.1:PORT/acct"; valid until server_stop(). */
const char* server_url(const server* self);
/* Stops and frees the server. */
void server_stop(server* self);

#endif
