/* Tests billcore_subscription_find_charges(), which returns the orders that a charge of unknown outcome may have
 * made. */
#include <inttypes.h>

#include "support/client.h"

#define MADE(id, time) "{\"id\":\"" id "\",\"total\":1500,\"state\":\"paid\",\"created_at\":\"" time "\"}"
#define LATER "2999-01-01T00:00:00Z"
#define EARLIER "1999-01-01T00:00:00Z"

#define ORDERS(total)                                               \
  "HTTP/1.1 200 OK" HEAD "{\"data\":[" MADE("new", LATER) "," MADE( \
      "old", EARLIER) "],\"pagination\":{\"total\":" total          \
                      ",\"count\":2,\"per_page\":2,\"current_page\":1,\"total_pages\":1,\"links\":{}}}"

static billcore_error* err;

static const char* answer(const char* request) {
  if (strncmp(request, "POST /acct/subscription/s/order", 31) == 0) return ""; /* no answer: outcome unknown */
  if (strncmp(request, "POST ", 5) == 0) return "HTTP/1.1 402 X" HEAD "{}";
  if (strncmp(request, "GET /acct/subscription/s", 24) == 0) {
    return strstr(request, "/short/") ? ORDERS("3") : ORDERS("2");
  }
  return "HTTP/1.1 404 X" HEAD "{}";
}

static billcore_charge_search* search;

static const billcore_charge_search* search_of(int64_t skew_ms) {
  if (search == NULL) CHECK_OK(billcore_charge_search_new(&search, &err));
  CHECK_OK(billcore_charge_search_set_skew_ms(search, skew_ms, &err));
  return search;
}

static billcore_error* failed_charge(const billcore_client* client, const char* id, billcore_status status) {
  billcore_error* out = NULL;
  billcore_order* order = NULL;
  CHECK(billcore_subscription_charge(client, billcore_str_from(id), 1, 1500, NULL, NULL, &order, &out) == status);
  return out;
}

static void expect(billcore_order_page* found, size_t expected, const char* first) {
  size_t count = 0;
  billcore_order* order = NULL;
  billcore_str id;
  billcore_pagination* numbers = NULL;
  CHECK_OK(billcore_order_page_count(found, &count, &err));
  CHECK(count == expected);
  CHECK_OK(billcore_order_page_at(found, 0, &order, &err));
  CHECK_OK(billcore_order_id(order, &id, NULL, &err));
  CHECK(is_text(id, first));
  billcore_order_free(order);
  CHECK_FAILS(billcore_order_page_at(found, count, &order, &err), BILLCORE_ERROR_INVALID_ARGUMENT, "no item");
  CHECK_FAILS(billcore_order_page_pagination(found, &numbers, &err), BILLCORE_ERROR_INVALID_ARGUMENT,
              "come from a search");
  billcore_order_page_free(found);
}

int main(void) {
  server* at = server_start(answer);
  billcore_client* client = client_of(at, "key", NULL, NULL);
  billcore_order_page* found = NULL;
  billcore_error* unknown = failed_charge(client, "s", BILLCORE_ERROR_OUTCOME_UNKNOWN);
  billcore_error* refused = failed_charge(client, "t", BILLCORE_ERROR_PAYMENT);

  CHECK_OK(billcore_subscription_find_charges(client, unknown, NULL, NULL, &found, &err));
  expect(found, 1, "new");
  CHECK_OK(billcore_subscription_find_charges(client, unknown, search_of(INT64_MAX), NULL, &found, &err));
  expect(found, 1, "new"); /* a skew over ten years counts as ten years */
  CHECK_OK(billcore_subscription_find_charges_since(client, BILLCORE_STR("s"), 0, NULL, NULL, &found, &err));
  expect(found, 2, "new");
  CHECK_OK(billcore_subscription_find_charges_since(client, BILLCORE_STR("s"), INT64_MIN, NULL, NULL, &found, &err));
  expect(found, 2, "new");
  CHECK_OK(billcore_subscription_find_charges_since(client, BILLCORE_STR("s"), INT64_MAX, NULL, NULL, &found, &err));
  size_t count = 1;
  CHECK_OK(billcore_order_page_count(found, &count, &err));
  CHECK(count == 0);
  billcore_order_page_free(found);

  const billcore_status invalid = BILLCORE_ERROR_INVALID_ARGUMENT;
  CHECK_FAILS(billcore_subscription_find_charges(client, refused, NULL, NULL, &found, &err), invalid, "is known");
  CHECK_FAILS(billcore_subscription_find_charges(client, NULL, NULL, NULL, &found, &err), invalid, "is missing");
  CHECK_FAILS(billcore_subscription_find_charges(client, unknown, search_of(-1), NULL, &found, &err), invalid,
              "negative");
  CHECK_FAILS(billcore_subscription_find_charges(client, unknown, search_of(INT64_MIN), NULL, &found, &err), invalid,
              "negative");
  CHECK_FAILS(billcore_subscription_find_charges(client, unknown, NULL, NULL, NULL, &err), invalid, "output");
  CHECK_FAILS(billcore_subscription_find_charges_since(client, BILLCORE_STR(""), 0, NULL, NULL, &found, &err), invalid,
              "id");
  CHECK_FAILS(billcore_subscription_find_charges_since(client, BILLCORE_STR("s"), 0, search_of(1), NULL, &found, &err),
              invalid, "skew_ms");
  CHECK(found == NULL);

  /* The list's total is larger than the number of orders received, so orders may be missing. The error contains the
   * orders that were found. */
  billcore_error* unproven = NULL;
  CHECK(billcore_subscription_find_charges_since(client, BILLCORE_STR("short"), 0, NULL, NULL, &found, &unproven) ==
        BILLCORE_ERROR_POSSIBLY_MISSED);
  CHECK(found == NULL && billcore_error_cause(unproven) == BILLCORE_ERROR_PAGINATION);
  CHECK_OK(billcore_subscription_found_charges(unproven, &found, &err));
  billcore_error_free(unproven); /* the orders outlive the error */
  expect(found, 2, "new");
  CHECK_FAILS(billcore_subscription_found_charges(refused, &found, &err), invalid, "POSSIBLY_MISSED");
  CHECK_FAILS(billcore_subscription_found_charges(NULL, &found, &err), invalid, "NULL");
  billcore_charge_search_free(search);

  billcore_error_free(unknown);
  billcore_error_free(refused);
  billcore_client_free(client);
  server_stop(at);
  return 0;
}
