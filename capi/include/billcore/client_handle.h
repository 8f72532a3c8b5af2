/** @file
 * The handle types of the client half, for the headers that need them. */
#ifndef BILLCORE_CLIENT_HANDLE_H
#define BILLCORE_CLIENT_HANDLE_H

/** A client. Freed with billcore_client_free; a list may outlive its client. Threads: shared. */
typedef struct billcore_client billcore_client;

/** The answer to billcore_client_request, as received. Freed with billcore_response_free. Texts are valid as long as
 * the handle. Threads: immutable. */
typedef struct billcore_response billcore_response;

#endif /* BILLCORE_CLIENT_HANDLE_H */
