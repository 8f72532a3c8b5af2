#include <billcore.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  if (argc != 4) {
    fputs("usage: charge SUBSCRIPTION PRODUCT CENTS\n", stderr);
    return 2;
  }
  const billcore_str id = billcore_str_from(argv[1]);
  billcore_client* client = NULL;
  billcore_order* order = NULL;
  billcore_error* err = NULL;
  billcore_status status = billcore_client_new(NULL, &client, &err); /* uses BILLCORE_BASE_URL and BILLCORE_API_KEY */
  if (status == BILLCORE_OK)
    status = billcore_subscription_charge(client, id, atoll(argv[2]), atoll(argv[3]), NULL, NULL, &order, &err);
  /* BILLCORE_ERROR_PAYMENT is a refusal; BILLCORE_ERROR_OUTCOME_UNKNOWN: check the orders before you charge again */
  if (status == BILLCORE_OK) puts("charged");
  if (status != BILLCORE_OK) fprintf(stderr, "%s\n", billcore_error_message(err).data);
  billcore_order_free(order);
  billcore_client_free(client);
  billcore_error_free(err);
  return status != BILLCORE_OK;
}
