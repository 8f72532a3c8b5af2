/* A webhook server. Usage: receiver PORT. The server remembers each event before it answers, and drops an event that
 * is delivered again. SIGTERM or Ctrl-C ends the server. */
#include <billcore/webhook.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "listener.h"

/* The events received so far. With a database, record the event and apply its effect in one transaction. */
typedef struct inbox {
  billcore_verifier* verifier;
  char** claimed; /* the account and id of each event */
  size_t count;
} inbox;

/* Records an event, and sets *first to false if the event was recorded before. Every test.hook has the id 0, so
 * claim() does not record a test.hook and always sets *first to true for it. */
static billcore_status claim(inbox* box, const billcore_event* event, bool* first, billcore_error** err) {
  billcore_event_kind type;
  billcore_str id;
  int64_t account;
  *first = true;
  billcore_status status = billcore_event_type(event, &type, err);
  if (status != BILLCORE_OK || type == BILLCORE_EVENT_TEST_HOOK) return status;
  if ((status = billcore_event_id(event, &id, NULL, err)) != BILLCORE_OK) return status;
  if ((status = billcore_event_account(event, &account, err)) != BILLCORE_OK) return status;
  const size_t size = id.len + 32;
  char* key = malloc(size);
  char** claimed = realloc(box->claimed, (box->count + 1) * sizeof *claimed);
  if (claimed != NULL) box->claimed = claimed;
  if (key == NULL || claimed == NULL) {
    free(key);
    return BILLCORE_ERROR_OUT_OF_MEMORY;
  }
  snprintf(key, size, "%" PRId64 " %s", account, id.data);
  for (size_t i = 0; i < box->count && *first; ++i) *first = strcmp(claimed[i], key) != 0;
  if (*first) {
    claimed[box->count++] = key;
  } else {
    free(key);
  }
  return BILLCORE_OK;
}

/* The HTTP status of the answer. After any status but 2xx the service delivers the event again. */
static unsigned answer_to(billcore_status status, const billcore_error* err) {
  switch (status) {
    case BILLCORE_OK:
      return 200;
    case BILLCORE_ERROR_SIGNATURE:
      return (unsigned)billcore_error_http_status(err);
    case BILLCORE_ERROR_DECODE:
    case BILLCORE_ERROR_OUT_OF_RANGE:
    case BILLCORE_ERROR_MISSING_FIELD:
      return 400; /* the signature is right, but the body is not an event that can be kept */
    default:
      return 500;
  }
}

/* Handles one delivery and returns the HTTP status of the answer. */
static unsigned receive(void* context, billcore_str body, const billcore_headers* headers) {
  inbox* box = context;
  billcore_event* event = NULL;
  billcore_error* err = NULL;
  billcore_str name;
  bool first = false;
  billcore_status status = billcore_verifier_unwrap_request(box->verifier, body, headers, &event, &err);
  if (status == BILLCORE_OK) status = billcore_event_require_claimable(event, &err);
  if (status == BILLCORE_OK) status = billcore_event_name(event, &name, &err);
  if (status == BILLCORE_OK) status = claim(box, event, &first, &err);
  if (status == BILLCORE_OK && first) printf("received %s\n", name.data);
  if (status != BILLCORE_OK) printf("refused: %s\n", err != NULL ? billcore_error_message(err).data : "no memory");
  fflush(stdout);
  const unsigned answer = answer_to(status, err);
  billcore_event_free(event);
  billcore_error_free(err);
  return answer;
}

/* Makes a verifier with the secrets, which are separated by commas: while a secret is being replaced, "new,old". */
static billcore_status make_verifier(const char* secrets, billcore_verifier** out, billcore_error** err) {
  billcore_verifier_options* options = NULL;
  billcore_status status = billcore_verifier_options_new(&options, err);
  for (const char* at = secrets; status == BILLCORE_OK && at != NULL;) {
    const size_t len = strcspn(at, ",");
    status = billcore_verifier_options_add_secret(options, (billcore_str){at, len}, err);
    at = at[len] == ',' ? at + len + 1 : NULL;
  }
  if (status == BILLCORE_OK) status = billcore_verifier_new((billcore_str){NULL, 0}, options, out, err);
  billcore_verifier_options_free(options);
  return status;
}

int main(int argc, char** argv) {
  const char* secret = getenv("WEBHOOK_SECRET");
  char* end = NULL;
  const unsigned long port = argc == 2 ? strtoul(argv[1], &end, 10) : 0;
  if (argc != 2 || secret == NULL || end == argv[1] || *end != '\0' || port > 65535) {
    fputs("usage: receiver PORT (0: a free one), with WEBHOOK_SECRET set\n", stderr);
    return 2;
  }
  inbox box = {NULL, NULL, 0};
  billcore_error* err = NULL;
  if (make_verifier(secret, &box.verifier, &err) != BILLCORE_OK) {
    fprintf(stderr, "WEBHOOK_SECRET: %s\n", billcore_error_message(err).data);
    billcore_error_free(err);
    return 2;
  }
  /* Block the signals before the server's thread starts, so that sigwait receives them. */
  sigset_t ends;
  int ended_by = 0;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, NULL);
  listener* server = listener_new((uint16_t)port, receive, &box);
  if (server == NULL) {
    perror("the port cannot be used");
  } else {
    printf("listening on http://127.0.0.1:%u/webhooks\n", listener_port(server));
    fflush(stdout);
    sigwait(&ends, &ended_by);
    listener_free(server);
  }
  billcore_verifier_free(box.verifier);
  for (size_t i = 0; i < box.count; ++i) free(box.claimed[i]);
  free(box.claimed);
  return ended_by == 0;
}
