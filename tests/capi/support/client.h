/* Helpers for the tests of the client: a client of the test server, the headers of the server's answers, and an
 * order. */
#ifndef CLIENT_H
#define CLIENT_H

#include "check.h"
#include "server.h"

#define HEAD "\r\nContent-Type: application/json\r\nX-Request-Id: req-7\r\nConnection: close\r\n\r\n"
#define ORDER(id) "{\"id\":\"" id "\",\"total\":1500,\"state\":\"paid\"}"

static inline billcore_client* client_of(const server* at, const char* key, bool (*interrupt)(void*), void* context) {
  billcore_error* err = NULL;
  billcore_client_options* options = NULL;
  billcore_client* out = NULL;
  CHECK_OK(billcore_client_options_new(&options, &err));
  CHECK_OK(billcore_client_options_set_base_url(options, billcore_str_from(server_url(at)), &err));
  CHECK_OK(billcore_client_options_set_api_key(options, billcore_str_from(key), &err));
  CHECK_OK(billcore_client_options_set_timeout_ms(options, 60000, &err));
  CHECK_OK(billcore_client_options_set_interrupt(options, interrupt, context, NULL, &err));
  CHECK_OK(billcore_client_new(options, &out, &err));
  billcore_client_options_free(options);
  return out;
}

#endif
