/* Tests billcore_subscription_find_charges(), which returns the orders that a charge of unknown outcome may have
 * made: its arguments and results. The C++ tests check which orders it finds. */
#include "support/client.h"

#define MADE(id, time) "{\"id\":\"" id "\",\"total\":1500,\"state\":\"paid\",\"created_at\":\"" time "\"}"
#define ORDERS(total) \
  PAGE(MADE("new", "2999-01-01T00:00:00Z") "," MADE("old", "1999-01-01T00:00:00Z"), total, "2", "1", "1")

static const char* answer(const char* request) {
  if (strncmp(request, "POST", 4) == 0) return usual_answer(request);
  return strstr(request, "/short/") != NULL ? ORDERS("3") : ORDERS("2");
}

static billcore_error* failed_charge(const billcore_client* client, const char* id) {
  CHECK(charge(client, id, NULL) != BILLCORE_OK);
  billcore_error* const out = err;
  err = NULL;
  return out;
}

static void expect(billcore_order_page* found, size_t expected) {
  size_t count = 0;
  billcore_order* order = NULL;
  billcore_pagination* numbers = NULL;
  CHECK_OK(billcore_order_page_count(found, &count, &err));
  CHECK(count == expected);
  if (count > 0) {
    CHECK_OK(billcore_order_page_at(found, 0, &order, &err));
    expect_id(order, "new");
  }
  CHECK_INVALID(billcore_order_page_at(found, count, &order, &err), "no item");
  CHECK_INVALID(billcore_order_page_pagination(found, &numbers, &err), "come from a search");
  billcore_order_page_free(found);
}

int main(void) {
  server* at = server_start(answer);
  billcore_client* client = client_of(at);
  billcore_order_page* found = NULL;
  billcore_charge_search* search = NULL;
  billcore_error* unknown = failed_charge(client, "lost");
  billcore_error* refused = failed_charge(client, "refused");
  const billcore_str id = BILLCORE_STR("s");
  CHECK_OK(billcore_charge_search_new(&search, &err));

  CHECK_OK(billcore_subscription_find_charges(client, unknown, NULL, NULL, &found, &err));
  expect(found, 1);
  CHECK_OK(billcore_charge_search_set_skew_ms(search, INT64_MAX, &err)); /* over ten years counts as ten years */
  CHECK_OK(billcore_subscription_find_charges(client, unknown, search, NULL, &found, &err));
  expect(found, 1);
  static const struct {
    int64_t since;
    size_t count;
  } moments[] = {{0, 2}, {INT64_MIN, 2}, {INT64_MAX, 0}};
  for (size_t i = 0; i < sizeof moments / sizeof *moments; ++i) {
    CHECK_OK(billcore_subscription_find_charges_since(client, id, moments[i].since, NULL, NULL, &found, &err));
    expect(found, moments[i].count);
  }

  found = NULL;
  CHECK_INVALID(billcore_subscription_find_charges_since(client, id, 0, search, NULL, &found, &err), "skew_ms");
  CHECK_OK(billcore_charge_search_set_skew_ms(search, -1, &err));
  CHECK_INVALID(billcore_subscription_find_charges(client, unknown, search, NULL, &found, &err), "negative");
  CHECK_OK(billcore_charge_search_set_skew_ms(search, INT64_MIN, &err));
  CHECK_INVALID(billcore_subscription_find_charges(client, unknown, search, NULL, &found, &err), "negative");
  CHECK_INVALID(billcore_subscription_find_charges(client, refused, NULL, NULL, &found, &err), "is known");
  CHECK_INVALID(billcore_subscription_find_charges(client, NULL, NULL, NULL, &found, &err), "is missing");
  CHECK_INVALID(billcore_subscription_find_charges(client, unknown, NULL, NULL, NULL, &err), "output");
  billcore_charge_search_free(search);

  /* The list's total is larger than the number of orders received, so orders may be missing. The error contains the
   * orders that were found. */
  CHECK(billcore_subscription_find_charges_since(client, BILLCORE_STR("short"), 0, NULL, NULL, &found, &err) ==
        BILLCORE_ERROR_POSSIBLY_MISSED);
  CHECK(found == NULL && billcore_error_cause(err) == BILLCORE_ERROR_PAGINATION);
  CHECK(billcore_subscription_found_charges(err, &found, NULL) == BILLCORE_OK);
  billcore_error_free(err); /* the orders outlive the error */
  expect(found, 2);
  CHECK_INVALID(billcore_subscription_found_charges(refused, &found, &err), "POSSIBLY_MISSED");
  CHECK_INVALID(billcore_subscription_found_charges(NULL, &found, &err), "NULL");

  billcore_error_free(unknown);
  billcore_error_free(refused);
  billcore_client_free(client);
  server_stop(at);
  return 0;
}
