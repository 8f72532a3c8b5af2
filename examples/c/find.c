#include <billcore.h>
#include <stdio.h>

int main(int argc, char** argv) {
  if (argc != 2) {
    fputs("usage: find REFERENCE_ID\n", stderr);
    return 2;
  }
  billcore_client* client = NULL;
  billcore_subscription_query* query = NULL;
  billcore_subscription_list* list = NULL;
  billcore_subscription* subscription = NULL;
  billcore_error* err = NULL;
  size_t found = 0;
  billcore_status status = billcore_client_new(NULL, &client, &err); /* uses BILLCORE_BASE_URL and BILLCORE_API_KEY */
  if (status == BILLCORE_OK) status = billcore_subscription_query_new(&query, &err);
  if (status == BILLCORE_OK)
    status = billcore_subscription_query_set_reference_id(query, billcore_str_from(argv[1]), &err);
  if (status == BILLCORE_OK) status = billcore_subscription_list_new(client, query, NULL, &list, &err);
  while (status == BILLCORE_OK &&
         (status = billcore_subscription_list_next(list, &subscription, &err)) == BILLCORE_OK) {
    billcore_str id, its_status;
    status = billcore_subscription_id(subscription, &id, NULL, &err);
    if (status == BILLCORE_OK) status = billcore_subscription_status(subscription, &its_status, &err);
    if (status == BILLCORE_OK) printf("%s %s\n", id.data, its_status.data);
    billcore_subscription_free(subscription);
    ++found;
  }
  if (status != BILLCORE_DONE) fprintf(stderr, "%s\n", billcore_error_message(err).data);
  if (status == BILLCORE_DONE && found == 0) fputs("no subscription has this reference_id\n", stderr);
  billcore_subscription_list_free(list);
  billcore_subscription_query_free(query);
  billcore_client_free(client);
  billcore_error_free(err);
  return status != BILLCORE_DONE || found == 0;
}
