/** @file
 * The handles of the client half. Included by the headers that need them.
 */
#ifndef BILLCORE_CLIENT_HANDLE_H
#define BILLCORE_CLIENT_HANDLE_H

/** A client. Freed with billcore_client_free; lists made with it may outlive it. Threads: shared. */
typedef struct billcore_client billcore_client;

/** An answer as it came, where the interface does not say what it holds. Freed with billcore_response_free. Texts live
 * as long as it. Threads: immutable. */
typedef struct billcore_response billcore_response;

#endif /* BILLCORE_CLIENT_HANDLE_H */
