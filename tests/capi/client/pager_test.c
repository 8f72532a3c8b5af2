/* Tests lists and pages against a small server: items, totals, verdicts, and the lifetimes of handles. */
#include "support/client.h"

#define PAGE(items, page)                                                           \
  "HTTP/1.1 200 OK" HEAD "{\"data\":[" items                                        \
  "],\"pagination\":{\"total\":3,\"count\":2,\"per_page\":2,\"current_page\":" page \
  ",\"total_pages\":2,\"links\":{\"next\":null,\"previous\":\"p\"}}}"

static const char* answer(const char* request) {
  if (strstr(request, "/orders?page=1") != NULL) return PAGE(ORDER("a") "," ORDER("b"), "1");
  if (strstr(request, "/orders?page=2") != NULL) return PAGE(ORDER("c"), "2");
  return "HTTP/1.1 404 Not Found" HEAD "null";
}

static billcore_order_list* orders_of(const billcore_client* client) {
  billcore_error* err = NULL;
  billcore_order_list* list = NULL;
  CHECK_OK(billcore_subscription_orders_new(client, BILLCORE_STR("s1"), NULL, NULL, &list, &err));
  return list;
}

static void check_verdict(const billcore_order_list* list, bool complete, const char* why) {
  billcore_error* err = NULL;
  billcore_str reason;
  bool is_complete;
  bool present;
  CHECK_OK(billcore_order_list_verdict(list, &is_complete, &reason, &present, &err));
  CHECK(present && is_complete == complete && is_text(reason, why));
}

static void test_list(const billcore_client* client) {
  billcore_error* err = NULL;
  billcore_order_list* list = orders_of(client);
  billcore_order* order = NULL;
  billcore_str text;
  bool present;
  int64_t number;
  char seen[4] = "";

  CHECK_OK(billcore_order_list_total(list, &number, &present, &err));
  CHECK(!present);
  CHECK_OK(billcore_order_list_verdict(list, &present, NULL, &present, &err));
  CHECK(!present);
  CHECK_OK(billcore_order_list_first(list, &order, &err));
  billcore_order_free(order);
  CHECK_OK(billcore_order_list_fetched_pages(list, &number, &err));
  CHECK(number == 1);
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(billcore_order_list_next(list, &order, &err));
    CHECK_OK(billcore_order_id(order, &text, NULL, &err));
    seen[i] = *text.data;
    billcore_order_free(order);
  }
  CHECK(strcmp(seen, "abc") == 0);
  CHECK(billcore_order_list_next(list, &order, &err) == BILLCORE_DONE && order == NULL && err == NULL);
  CHECK_OK(billcore_order_list_total(list, &number, &present, &err));
  CHECK(present && number == 3);
  check_verdict(list, true, "");
  billcore_order_list_free(list);

  list = orders_of(client);
  CHECK_OK(billcore_order_list_next(list, &order, &err));
  CHECK_OK(billcore_order_list_stop(list, &err));
  check_verdict(list, false, "stopped");
  billcore_order_list_free(list);
  billcore_order_free(order); /* an item stays valid without its list */
}

static void test_pages(const billcore_client* client) {
  billcore_error* err = NULL;
  billcore_order_list* list = orders_of(client);
  billcore_order_page* page = NULL;
  billcore_order_page* none = NULL;
  billcore_order* order = NULL;
  billcore_pagination* numbers = NULL;
  billcore_value* value = NULL;
  billcore_str text;
  bool present;
  int64_t number;
  size_t count;

  CHECK_OK(billcore_order_list_next_page(list, &page, &err));
  billcore_order_page_free(page);
  CHECK_OK(billcore_order_list_next_page(list, &page, &err));
  CHECK(billcore_order_list_next_page(list, &none, &err) == BILLCORE_DONE && none == NULL);
  billcore_order_list_free(list);
  CHECK_OK(billcore_order_page_count(page, &count, &err));
  CHECK(count == 1);
  CHECK_OK(billcore_order_page_at(page, 0, &order, &err));
  CHECK_OK(billcore_order_id(order, &text, NULL, &err));
  CHECK(is_text(text, "c"));
  billcore_order_free(order);
  CHECK_FAILS(billcore_order_page_at(page, 1, &order, &err), BILLCORE_ERROR_INVALID_ARGUMENT, "no item 1");
  CHECK_OK(billcore_order_page_pagination(page, &numbers, &err));
  billcore_order_page_free(page);
  CHECK_OK(billcore_pagination_total(numbers, &number, &err));
  CHECK(number == 3);
  CHECK_OK(billcore_pagination_count(numbers, &number, &err));
  CHECK(number == 2);
  CHECK_OK(billcore_pagination_per_page(numbers, &number, &err));
  CHECK(number == 2);
  CHECK_OK(billcore_pagination_current_page(numbers, &number, &err));
  CHECK(number == 2);
  CHECK_OK(billcore_pagination_total_pages(numbers, &number, &err));
  CHECK(number == 2);
  CHECK_OK(billcore_pagination_links_next(numbers, &text, &present, &err));
  CHECK(!present);
  CHECK_OK(billcore_pagination_links_previous(numbers, &text, &present, &err));
  CHECK(present && is_text(text, "p"));
  CHECK_OK(billcore_pagination_value(numbers, &value, &err));
  billcore_value_free(value);
  billcore_pagination_free(numbers);
}

static void test_a_list_outlives_its_client(const server* at) {
  billcore_error* err = NULL;
  billcore_order* order = NULL;
  billcore_client* client = client_of(at, "key", NULL, NULL);
  billcore_order_list* list = orders_of(client);
  CHECK_OK(billcore_order_list_next(list, &order, &err));
  billcore_client_free(client);
  billcore_order_free(order);
  CHECK_OK(billcore_order_list_next(list, &order, &err));
  billcore_order_free(order);
  billcore_order_list_free(list);
}

int main(void) {
  server* at = server_start(answer);
  billcore_client* client = client_of(at, "key", NULL, NULL);
  test_list(client);
  test_pages(client);
  billcore_client_free(client);
  test_a_list_outlives_its_client(at);
  server_stop(at);
  return 0;
}
