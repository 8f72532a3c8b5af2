/* Charges a subscription many times at once, on a loop, and prints what it knows: see tests/faults/test_killed.py. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "wire_driver.h"

static void print_end(void* charge, billcore_ticket ticket, billcore_result* result, billcore_error* failure) {
  const char* known = failure == NULL ? "made" : billcore_error_outcome_unknown(failure) ? "unknown" : "not-made";
  (void)ticket;
  printf("end %d %s\n", (int)(intptr_t)charge, known);
  fflush(stdout);
  billcore_result_free(result);
  billcore_error_free(failure);
}

static bool start(billcore_loop* loop, char** argv, int charge, billcore_error** err) {
  billcore_operation* operation = NULL;
  printf("begin %d\n", charge);
  fflush(stdout);
  const bool started =
      ok(billcore_operation_new(BILLCORE_STR("subscriptions.charge"), &operation, err)) &&
      ok(billcore_operation_set_text(operation, BILLCORE_STR("id"), billcore_str_from(argv[2]), err)) &&
      ok(billcore_operation_set_int64(operation, BILLCORE_STR("product_id"), atoi(argv[3]), err)) &&
      ok(billcore_operation_set_int64(operation, BILLCORE_STR("amount"), 1000 + charge, err)) &&
      ok(billcore_loop_start(loop, operation, NULL, print_end, (void*)(intptr_t)charge, NULL, NULL, err));
  billcore_operation_free(operation);
  return started;
}

int run_charges(char** argv) {
  billcore_client_options* options = NULL;
  billcore_client* client = NULL;
  billcore_loop* loop = NULL;
  billcore_error* err = NULL;
  bool good = ok(billcore_client_options_new(&options, &err)) &&
              ok(billcore_client_options_set_base_url(options, billcore_str_from(argv[0]), &err)) &&
              ok(billcore_client_options_set_api_key(options, billcore_str_from(argv[1]), &err)) &&
              ok(billcore_client_new(options, &client, &err)) && ok(billcore_loop_new(client, &loop, &err));
  for (int charge = 0; good && charge < atoi(argv[4]); ++charge) good = start(loop, argv, charge, &err);
  struct pollfd ready = {billcore_loop_descriptor(loop), POLLIN, 0};
  while (good && billcore_loop_running(loop) > 0) {
    poll(&ready, 1, -1);
    good = ok(billcore_loop_process(loop, NULL, &err));
  }
  if (!good) fprintf(stderr, "%s\n", billcore_error_message(err).data);
  billcore_error_free(err);
  billcore_loop_free(loop);
  billcore_client_free(client);
  billcore_client_options_free(options);
  return good ? 0 : 1;
}
