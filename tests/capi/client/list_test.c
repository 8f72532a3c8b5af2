/* Tests lists, their pages and the columns of a page: what the functions return, and the lifetimes of handles. The
 * conformance tests check what a list reads, and its verdicts. */
#include "support/client.h"

static atomic_int filtered; /* number of requests with the parameters of test_parameters() */

static const char* answer(const char* request) {
  if (strstr(request, "&per_page=7&filter%5Bproduct_id%5D=42&filter%5Bstate%5D=paid%2Cconfirmed ") != NULL) ++filtered;
  if (strstr(request, "/subscription/odd/") != NULL)
    return PAGE(
        "{\"id\":\"a\\u00e9\",\"total\":-5},{\"id\":7,\"total\":null},{\"total\":true},"
        "{\"id\":[1],\"total\":99999999999999999999},{\"id\":\"b\",\"total\":1.5}",
        "5", "5", "1", "1");
  return usual_answer(request);
}

static void check_verdict(const billcore_order_list* list, bool complete, const char* why) {
  billcore_str reason;
  bool is_complete;
  bool present;
  CHECK_OK(billcore_order_list_verdict(list, &is_complete, &reason, &present, &err));
  CHECK(present && is_complete == complete && is_text(reason, why));
}

static void test_list(const server* at) {
  billcore_client* client = client_of(at);
  billcore_order_list* list = orders_of(client, "s", NULL);
  billcore_order* order = NULL;
  bool present;
  int64_t number;
  CHECK_OK(billcore_order_list_total(list, &number, &present, &err));
  CHECK(!present);
  CHECK_OK(billcore_order_list_verdict(list, &present, NULL, &present, &err));
  CHECK(!present);
  CHECK_OK(billcore_order_list_first(list, &order, &err));
  expect_id(order, "a");
  CHECK_OK(billcore_order_list_fetched_pages(list, &number, &err));
  CHECK(number == 1);
  expect_next(list, "a");
  billcore_client_free(client); /* a list outlives its client */
  expect_next(list, "b");
  expect_next(list, "c");
  expect_next(list, "d");
  CHECK(billcore_order_list_next(list, &order, &err) == BILLCORE_DONE && order == NULL && err == NULL);
  CHECK_OK(billcore_order_list_total(list, &number, &present, &err));
  CHECK(present && number == 4);
  check_verdict(list, true, "");
  billcore_order_list_free(list);
}

static void test_pages(const billcore_client* client) {
  billcore_order_list* list = orders_of(client, "s", NULL);
  billcore_order_page* page = NULL;
  billcore_order_page* none = NULL;
  billcore_order* order = NULL;
  billcore_pagination* numbers = NULL;
  billcore_str text;
  bool present;
  int64_t number[5];
  size_t count;
  CHECK_OK(billcore_order_list_next(list, &order, &err));
  CHECK_OK(billcore_order_list_next_page(list, &page, &err));
  CHECK_OK(billcore_order_page_count(page, &count, &err));
  CHECK(count == 1); /* the unread rest of the page */
  billcore_order_page_free(page);
  CHECK_OK(billcore_order_list_next_page(list, &page, &err));
  CHECK(billcore_order_list_next_page(list, &none, &err) == BILLCORE_DONE && none == NULL);
  billcore_order_list_free(list);
  expect_id(order, "a"); /* an item and a page stay valid without their list */
  CHECK_OK(billcore_order_page_at(page, 1, &order, &err));
  expect_id(order, "d");
  CHECK_INVALID(billcore_order_page_at(page, 2, &order, &err), "no item 2");
  CHECK_OK(billcore_order_page_pagination(page, &numbers, &err));
  billcore_order_page_free(page);
  CHECK_OK(billcore_pagination_total(numbers, &number[0], &err));
  CHECK_OK(billcore_pagination_count(numbers, &number[1], &err));
  CHECK_OK(billcore_pagination_per_page(numbers, &number[2], &err));
  CHECK_OK(billcore_pagination_current_page(numbers, &number[3], &err));
  CHECK_OK(billcore_pagination_total_pages(numbers, &number[4], &err));
  CHECK(number[0] == 4 && number[1] == 2 && number[2] == 2 && number[3] == 2 && number[4] == 2);
  CHECK_OK(billcore_pagination_links_next(numbers, &text, &present, &err));
  CHECK(!present);
  CHECK_OK(billcore_pagination_links_previous(numbers, &text, &present, &err));
  CHECK(present && is_text(text, "p"));
  billcore_pagination_free(numbers);
}

/* Peeks at a page and skips some of its items; the list then continues with the first item that was not skipped. */
static void test_peek_and_skip(const billcore_client* client) {
  billcore_order_list* list = orders_of(client, "odd", NULL);
  billcore_order_page* page = NULL;
  billcore_order* order = NULL;
  billcore_str raw;
  size_t count = 0;
  for (int i = 0; i < 2; ++i) { /* peek_page() does not advance the list */
    CHECK_OK(billcore_order_list_peek_page(list, &page, &err));
    CHECK_OK(billcore_order_page_count(page, &count, &err));
    CHECK(count == 5);
    billcore_order_page_free(page);
  }
  CHECK_INVALID(billcore_order_list_skip(list, 6, &err), "fewer items are left");
  CHECK_OK(billcore_order_list_skip(list, 3, &err));
  CHECK_OK(billcore_order_list_next(list, &order, &err));
  CHECK_OK(billcore_order_raw(order, &raw, &err));
  CHECK(raw.len > 9 && memcmp(raw.data, "{\"id\":[1]", 9) == 0);
  billcore_order_free(order);
  CHECK_OK(billcore_order_list_skip(list, 1, &err));
  CHECK(billcore_order_list_peek_page(list, &page, &err) == BILLCORE_DONE && page == NULL && err == NULL);
  CHECK_OK(billcore_order_list_skip(list, 0, &err));
  billcore_order_list_free(list);
}

/* billcore_page_column() reads one field of every item of a page. */
static void test_columns(const billcore_client* client) {
  enum { count = 5 };
  billcore_order_list* list = orders_of(client, "odd", NULL);
  billcore_page* page = NULL;
  billcore_cell cells[count + 1];
  CHECK_OK(billcore_list_next_page((billcore_list*)(void*)list, &page, &err));
  billcore_order_list_free(list); /* the page stays valid without its list */
  cells[count].kind = -1;
  CHECK_OK(billcore_page_column(page, BILLCORE_STR("id"), cells, count, &err));
  CHECK(cells[0].kind == BILLCORE_CELL_TEXT && is_text(cells[0].text, "a\xc3\xa9"));
  CHECK(cells[1].kind == BILLCORE_CELL_INTEGER && cells[1].number == 7 && is_text(cells[1].text, ""));
  CHECK(cells[2].kind == BILLCORE_CELL_ABSENT && cells[3].kind == BILLCORE_CELL_OTHER);
  CHECK(cells[4].kind == BILLCORE_CELL_TEXT && is_text(cells[4].text, "b"));
  CHECK_OK(billcore_page_column(page, BILLCORE_STR("total"), cells, count, &err));
  CHECK(cells[0].kind == BILLCORE_CELL_INTEGER && cells[0].number == -5);
  CHECK(cells[1].kind == BILLCORE_CELL_NULL && cells[1].number == 0);
  CHECK(cells[2].kind == BILLCORE_CELL_BOOLEAN && cells[2].number == 1);
  CHECK(cells[3].kind == BILLCORE_CELL_OTHER && cells[4].kind == BILLCORE_CELL_OTHER); /* too large; a fraction */
  CHECK(cells[count].kind == -1);
  CHECK_OK(billcore_page_column(page, BILLCORE_STR("no such field"), cells, count + 1, &err));
  for (int i = 0; i < count; ++i) CHECK(cells[i].kind == BILLCORE_CELL_ABSENT);
  CHECK_INVALID(billcore_page_column(page, BILLCORE_STR("id"), cells, count - 1, &err), "room for fewer");
  CHECK_INVALID(billcore_page_column(page, BILLCORE_STR("id"), cells, SIZE_MAX, &err), "any memory");
  CHECK_INVALID(billcore_page_column(page, BILLCORE_STR("id"), NULL, count, &err), "output");
  billcore_page_free(page);
}

/* The typed setters and states of each kind of list; no binding calls the setters, because a binding names an option by
 * its text. */
static void test_parameters(const billcore_client* client) {
  billcore_order_query* query = NULL;
  billcore_order_list* list = NULL;
  billcore_product_query* products = NULL;
  billcore_product_list* product_list = NULL;
  billcore_subscription_query* subscriptions = NULL;
  billcore_subscription_list* subscription_list = NULL;
  billcore_buf state = {NULL, 0};
  CHECK_OK(billcore_order_query_new(&query, &err));
  CHECK_OK(billcore_order_query_set_per_page(query, 7, &err));
  CHECK_OK(billcore_order_query_set_product_id(query, 42, &err));
  CHECK_OK(billcore_order_query_add_state(query, BILLCORE_STR("paid"), &err));
  CHECK_OK(billcore_order_query_add_state(query, BILLCORE_STR("confirmed"), &err));
  CHECK_OK(billcore_subscription_orders_new(client, BILLCORE_STR("s"), query, NULL, &list, &err));
  expect_next(list, "a");
  CHECK(filtered > 0);
  CHECK_OK(billcore_order_list_stop(list, &err));
  check_verdict(list, false, "stopped");
  CHECK_OK(billcore_order_list_state(list, &state, &err));
  CHECK(state.len > 0 && strlen(state.data) == state.len);
  billcore_order_list_free(list);
  CHECK_OK(billcore_order_query_set_resume(query, (billcore_str){state.data, state.len}, &err));
  CHECK_OK(billcore_subscription_orders_new(client, BILLCORE_STR("s"), query, NULL, &list, &err));
  expect_next(list, "b");
  billcore_order_list_free(list);
  CHECK_OK(billcore_order_query_set_strict(query, true, &err));
  CHECK_INVALID(billcore_subscription_orders_new(client, BILLCORE_STR("s"), query, NULL, &list, &err), "strict");
  billcore_order_query_free(query);

  CHECK_OK(billcore_product_query_new(&products, &err));
  CHECK_OK(billcore_product_query_set_resume(products, (billcore_str){state.data, state.len}, &err));
  CHECK_INVALID(billcore_product_list_new(client, products, NULL, &product_list, &err), "another list");
  billcore_product_query_free(products);
  CHECK_OK(billcore_subscription_query_new(&subscriptions, &err));
  CHECK_OK(billcore_subscription_query_set_resume(subscriptions, (billcore_str){NULL, 0}, &err));
  CHECK_INVALID(billcore_subscription_list_new(client, subscriptions, NULL, &subscription_list, &err),
                "resume is not the state");
  billcore_subscription_query_free(subscriptions);
  CHECK(list == NULL && product_list == NULL && subscription_list == NULL);
  billcore_buf_free(&state);
  CHECK(state.data == NULL && state.len == 0);
}

int main(void) {
  server* at = server_start(answer);
  billcore_client* client = client_of(at);
  test_list(at);
  test_pages(client);
  test_peek_and_skip(client);
  test_columns(client);
  test_parameters(client);
  billcore_client_free(client);
  server_stop(at);
  return 0;
}
