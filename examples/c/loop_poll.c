#include <billcore.h>
#include <poll.h>
#include <stdio.h>

static int failed;

static void report(billcore_error* error) {
  fprintf(stderr, "%s\n", billcore_error_message(error).data);
  billcore_error_free(error);
  failed = 1;
}

/* Called once for each subscription. */
static void print_end(void* id, billcore_ticket ticket, billcore_result* result, billcore_error* failure) {
  billcore_subscription* subscription = NULL;
  billcore_str text;
  (void)ticket;
  if (failure == NULL && billcore_result_take_subscription(&result, &subscription, &failure) == BILLCORE_OK &&
      billcore_subscription_status(subscription, &text, &failure) == BILLCORE_OK) {
    printf("%s %s\n", (const char*)id, text.data);
  } else {
    report(failure);
  }
  billcore_subscription_free(subscription);
}

int main(int argc, char** argv) {
  if (argc < 2) return fputs("usage: loop_poll SUBSCRIPTION...\n", stderr), 2;
  billcore_client* client = NULL;
  billcore_loop* loop = NULL;
  billcore_error* err = NULL;
  billcore_status status = billcore_client_new(NULL, &client, &err); /* uses BILLCORE_BASE_URL and BILLCORE_API_KEY */
  if (status == BILLCORE_OK) status = billcore_loop_new(client, &loop, &err);
  for (int i = 1; i < argc && status == BILLCORE_OK; ++i) {
    billcore_operation* get = NULL;
    status = billcore_operation_new(BILLCORE_STR("subscriptions.get"), &get, &err);
    if (status == BILLCORE_OK)
      status = billcore_operation_set_text(get, BILLCORE_STR("id"), billcore_str_from(argv[i]), &err);
    if (status == BILLCORE_OK) status = billcore_loop_start(loop, get, NULL, print_end, argv[i], NULL, NULL, &err);
    billcore_operation_free(get);
  }
  struct pollfd ready = {billcore_loop_descriptor(loop), POLLIN, 0}; /* beside the program's own descriptors */
  while (status == BILLCORE_OK && billcore_loop_running(loop) > 0)
    if (poll(&ready, 1, -1) > 0) status = billcore_loop_process(loop, NULL, &err);
  if (status != BILLCORE_OK) report(err);
  billcore_loop_free(loop);
  billcore_client_free(client);
  return failed;
}
