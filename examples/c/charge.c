#include <billcore.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  if (argc != 4) {
    fputs("usage: charge SUBSCRIPTION PRODUCT CENTS_WITHOUT_VAT\n", stderr);
    return 2;
  }
  const billcore_str id = billcore_str_from(argv[1]);
  billcore_client* client = NULL;
  billcore_order* order = NULL;
  billcore_error* err = NULL;
  int64_t total = 0, with_vat = 0;
  billcore_status status = billcore_client_new(NULL, &client, &err); /* uses BILLCORE_BASE_URL and BILLCORE_API_KEY */
  if (status == BILLCORE_OK)
    status = billcore_subscription_charge(client, id, atoll(argv[2]), atoll(argv[3]), NULL, NULL, &order, &err);
  /* BILLCORE_ERROR_PAYMENT: the service refused the charge. BILLCORE_ERROR_OUTCOME_UNKNOWN: the charge may have been
   * made, so check the orders before you charge again. */
  if (status == BILLCORE_OK) status = billcore_order_total(order, &total, &err);
  if (status == BILLCORE_OK) status = billcore_order_total_with_vat(order, &with_vat, &err);
  if (status == BILLCORE_OK) printf("charged %" PRId64 " cents, %" PRId64 " with VAT\n", total, with_vat);
  if (status != BILLCORE_OK) fprintf(stderr, "%s\n", billcore_error_message(err).data);
  billcore_order_free(order);
  billcore_client_free(client);
  billcore_error_free(err);
  return status != BILLCORE_OK;
}
