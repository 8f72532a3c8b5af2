#include <billcore/webhook.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const char* secret = getenv("WEBHOOK_SECRET");
  if (argc != 2 || secret == NULL) {
    fputs("usage: verify_webhook SIGNATURE < BODY, with WEBHOOK_SECRET set\n", stderr);
    return 2;
  }
  /* One byte more than the library accepts (1 MiB): it refuses a longer body with 413 and never verifies a part. */
  static char buffer[(1 << 20) + 1];
  const billcore_str body = {buffer, fread(buffer, 1, sizeof buffer, stdin)};
  if (ferror(stdin)) {
    perror("the body cannot be read");
    return 2;
  }
  billcore_event* event = NULL;
  billcore_error* err = NULL;
  billcore_event_kind type = BILLCORE_EVENT_UNKNOWN;
  billcore_str name, id;
  billcore_status status =
      billcore_webhook_unwrap(body, billcore_str_from(argv[1]), billcore_str_from(secret), &event, &err);
  if (status == BILLCORE_OK) status = billcore_event_type(event, &type, &err);
  /* Only the name of test.hook is reliable: answer 200, read nothing else. */
  if (status == BILLCORE_OK && type != BILLCORE_EVENT_TEST_HOOK) {
    status = billcore_event_name(event, &name, &err);
    if (status == BILLCORE_OK) status = billcore_event_id(event, &id, NULL, &err);
    if (status == BILLCORE_OK) printf("event %s is %s\n", id.data, name.data);
  } else if (status == BILLCORE_OK) {
    puts("test.hook");
  }
  /* answer with billcore_error_http_status(err) */
  if (status != BILLCORE_OK) fprintf(stderr, "%s\n", billcore_error_message(err).data);
  billcore_event_free(event);
  billcore_error_free(err);
  return status != BILLCORE_OK;
}
