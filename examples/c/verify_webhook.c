#include <billcore/webhook.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static billcore_status show_order(billcore_str event_id, const billcore_event* event, billcore_error** err) {
  billcore_order* order = NULL;
  billcore_str id;
  int64_t total = 0;
  billcore_status status = billcore_event_order(event, &order, err);
  if (status == BILLCORE_OK) status = billcore_order_id(order, &id, NULL, err);
  if (status == BILLCORE_OK) status = billcore_order_total(order, &total, err);
  if (status == BILLCORE_OK) printf("event %s: order %s is paid, %" PRId64 " cents\n", event_id.data, id.data, total);
  billcore_order_free(order);
  return status;
}

static billcore_status show(const billcore_event* event, billcore_error** err) {
  billcore_event_kind type = BILLCORE_EVENT_UNKNOWN;
  billcore_data_kind data = BILLCORE_DATA_NONE;
  billcore_str name, id;
  billcore_status status = billcore_event_type(event, &type, err);
  if (status == BILLCORE_OK && type == BILLCORE_EVENT_TEST_HOOK) {
    puts("test.hook"); /* only the name of a test.hook is reliable: a server reads no other field, and answers 200 */
    return status;
  }
  if (status == BILLCORE_OK) status = billcore_event_id(event, &id, NULL, err);
  if (status == BILLCORE_OK) status = billcore_event_name(event, &name, err);
  if (status == BILLCORE_OK) status = billcore_event_data_kind(event, &data, err);
  if (status != BILLCORE_OK) return status;
  if (type == BILLCORE_EVENT_ORDER_PAID && data == BILLCORE_DATA_ORDER) return show_order(id, event, err);
  printf("event %s is %s\n", id.data, name.data);
  return status;
}

int main(int argc, char** argv) {
  const char* secret = getenv("WEBHOOK_SECRET");
  if (argc != 2 || secret == NULL) {
    fputs("usage: verify_webhook SIGNATURE < BODY, with WEBHOOK_SECRET set\n", stderr);
    return 2;
  }
  /* The buffer holds one byte more than the library accepts (1 MiB), so that the library refuses a longer body
   * (413) instead of verifying only its beginning. */
  static char buffer[(1 << 20) + 1];
  const billcore_str body = {buffer, fread(buffer, 1, sizeof buffer, stdin)};
  if (ferror(stdin)) {
    perror("the body cannot be read");
    return 2;
  }
  billcore_event* event = NULL;
  billcore_error* err = NULL;
  billcore_status status =
      billcore_webhook_unwrap(body, billcore_str_from(argv[1]), billcore_str_from(secret), &event, &err);
  if (status == BILLCORE_OK) status = show(event, &err);
  /* a server answers with the status billcore_error_http_status(err), or with 500 if that function returns 0 */
  if (status != BILLCORE_OK) fprintf(stderr, "%s\n", billcore_error_message(err).data);
  billcore_event_free(event);
  billcore_error_free(err);
  return status != BILLCORE_OK;
}
