#include "listener.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BODY = 1 << 20, TIMEOUT = 10 /* seconds without a byte, after which the server closes a connection */ };

struct listener {
  listener_receive receive;
  void* context;
  struct MHD_Daemon* daemon;
};

typedef struct request {
  char* body;
  size_t len;
  bool too_large;
} request;

static enum MHD_Result add_header(void* context, enum MHD_ValueKind kind, const char* name, const char* value) {
  (void)kind;
  return billcore_headers_add(context, billcore_str_from(name), billcore_str_from(value), NULL) == BILLCORE_OK ? MHD_YES
                                                                                                               : MHD_NO;
}

static enum MHD_Result answer(struct MHD_Connection* connection, unsigned status) {
  struct MHD_Response* response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
  const enum MHD_Result queued = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return queued;
}

static void append(request* into, const char* part, size_t size) {
  char* grown = into->too_large || size > MAX_BODY - into->len ? NULL : realloc(into->body, into->len + size);
  if (grown == NULL) {
    into->too_large = true; /* the server reads and drops the rest of the body */
    return;
  }
  memcpy(grown + into->len, part, size);
  into->body = grown;
  into->len += size;
}

/* libmicrohttpd calls on_request after the headers, then for each part of the body, then once more at the end of the
 * body. */
static enum MHD_Result on_request(void* context, struct MHD_Connection* connection, const char* url, const char* method,
                                  const char* version, const char* part, size_t* part_size, void** state) {
  listener* server = context;
  request* received = *state;
  (void)url;
  (void)version;
  if (received == NULL) {
    const char* declared = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    *state = calloc(1, sizeof(request));
    if (*state == NULL) return MHD_NO;
    /* An answer before the body ends the request: the server does not read the body. */
    if (declared != NULL && strtoull(declared, NULL, 10) > MAX_BODY)
      return answer(connection, MHD_HTTP_CONTENT_TOO_LARGE);
    return MHD_YES;
  }
  if (*part_size > 0) {
    append(received, part, *part_size);
    *part_size = 0;
    return MHD_YES;
  }
  if (strcmp(method, "POST") != 0) return answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED);
  if (received->too_large) return answer(connection, MHD_HTTP_CONTENT_TOO_LARGE);
  const billcore_str body = {received->body, received->len};
  billcore_headers* headers = NULL;
  unsigned status = MHD_HTTP_INTERNAL_SERVER_ERROR;
  if (billcore_headers_new(&headers, NULL) == BILLCORE_OK) {
    MHD_get_connection_values(connection, MHD_HEADER_KIND, add_header, headers);
    status = server->receive(server->context, body, headers);
  }
  billcore_headers_free(headers);
  return answer(connection, status);
}

static void on_completed(void* context, struct MHD_Connection* connection, void** state,
                         enum MHD_RequestTerminationCode code) {
  request* received = *state;
  (void)context;
  (void)connection;
  (void)code;
  if (received != NULL) free(received->body);
  free(received);
  *state = NULL;
}

listener* listener_new(uint16_t port, listener_receive receive, void* context) {
  const struct sockaddr_in loopback = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  listener* server = calloc(1, sizeof *server);
  if (server == NULL) return NULL;
  server->receive = receive;
  server->context = context;
  server->daemon = MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD, 0, NULL, NULL, on_request, server,
                                    MHD_OPTION_SOCK_ADDR, &loopback, MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
                                    MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT, MHD_OPTION_END);
  if (server->daemon == NULL) {
    free(server);
    return NULL;
  }
  return server;
}

unsigned listener_port(const listener* server) {
  return MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
}

void listener_free(listener* server) {
  MHD_stop_daemon(server->daemon);
  free(server);
}
