/** @file
 * The handle types billcore_client and billcore_response, which several headers of the client use. */
#ifndef BILLCORE_CLIENT_HANDLE_H
#define BILLCORE_CLIENT_HANDLE_H

/** A client. Freed with billcore_client_free; a list may outlive its client. Threads: shared. */
typedef struct billcore_client billcore_client;

/** The answer to a request made with billcore_client_request, as received. Freed with billcore_response_free. Texts
 * read from a response are valid until the response is freed. Threads: immutable. */
typedef struct billcore_response billcore_response;

#endif /* BILLCORE_CLIENT_HANDLE_H */
