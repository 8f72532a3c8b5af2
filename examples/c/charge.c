#include <billcore.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Prints how many orders were made since a charge of unknown outcome: check them before you charge again. */
static void check_orders(const billcore_client* client, const billcore_error* charge) {
  billcore_order_page* found = NULL;
  billcore_error* err = NULL;
  size_t count = 0;
  billcore_status status = billcore_subscription_find_charges(client, charge, NULL, NULL, &found, &err);
  if (status == BILLCORE_OK) status = billcore_order_page_count(found, &count, &err);
  if (status == BILLCORE_OK) fprintf(stderr, "; %zu orders were made since then", count);
  if (status != BILLCORE_OK) fprintf(stderr, "; %s", billcore_error_message(err).data);
  billcore_order_page_free(found);
  billcore_error_free(err);
}

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
  if (status == BILLCORE_OK) status = billcore_order_total(order, &total, &err);
  if (status == BILLCORE_OK) status = billcore_order_total_with_vat(order, &with_vat, &err);
  if (status == BILLCORE_OK) printf("charged %" PRId64 " cents, %" PRId64 " with VAT\n", total, with_vat);
  if (status != BILLCORE_OK) { /* BILLCORE_ERROR_PAYMENT: the service refused the charge */
    fputs(billcore_error_message(err).data, stderr);
    if (billcore_error_outcome_unknown(err)) check_orders(client, err);
    fputs("\n", stderr);
  }
  billcore_order_free(order);
  billcore_client_free(client);
  billcore_error_free(err);
  return status != BILLCORE_OK;
}
