/* Tests billcore_page_column(), which reads one field of every item of a page. */
#include "support/client.h"

static billcore_error* err;

static const char* answer(const char* request) {
  (void)request;
  return "HTTP/1.1 200 OK" HEAD
         "{\"data\":[{\"id\":\"a\\u00e9\",\"total\":-5},{\"id\":7,\"total\":null},{\"total\":true},"
         "{\"id\":[1],\"total\":99999999999999999999},{\"id\":\"b\",\"total\":1.5}],\"pagination\":{\"total\":5,"
         "\"count\":5,\"per_page\":5,\"current_page\":1,\"total_pages\":1,\"links\":{}}}";
}

static billcore_page* first_page(const billcore_client* client) {
  billcore_order_list* list = NULL;
  billcore_page* page = NULL;
  CHECK_OK(billcore_subscription_orders_new(client, BILLCORE_STR("s"), NULL, NULL, &list, &err));
  CHECK_OK(billcore_list_next_page((billcore_list*)(void*)list, &page, &err));
  billcore_order_list_free(list);
  return page;
}

/* Peeks at a page and skips some of its items; the list then continues with the first item that was not skipped. */
static void test_peek_and_skip(const billcore_client* client) {
  billcore_order_list* list = NULL;
  billcore_order_page* page = NULL;
  billcore_order* order = NULL;
  billcore_str raw;
  size_t count = 0;
  CHECK_OK(billcore_subscription_orders_new(client, BILLCORE_STR("s"), NULL, NULL, &list, &err));
  for (int i = 0; i < 2; ++i) { /* peek_page() does not advance the list */
    CHECK_OK(billcore_order_list_peek_page(list, &page, &err));
    CHECK_OK(billcore_order_page_count(page, &count, &err));
    CHECK(count == 5);
    billcore_order_page_free(page);
  }
  CHECK_FAILS(billcore_order_list_skip(list, 6, &err), BILLCORE_ERROR_INVALID_ARGUMENT, "fewer items are left");
  CHECK_OK(billcore_order_list_skip(list, 3, &err));
  CHECK_OK(billcore_order_list_next(list, &order, &err));
  CHECK_OK(billcore_order_raw(order, &raw, &err));
  CHECK(raw.len > 9 && memcmp(raw.data, "{\"id\":[1]", 9) == 0);
  billcore_order_free(order);
  CHECK_OK(billcore_order_list_peek_page(list, &page, &err));
  CHECK_OK(billcore_order_page_count(page, &count, &err));
  CHECK(count == 1);
  billcore_order_page_free(page);
  CHECK_OK(billcore_order_list_skip(list, 1, &err));
  CHECK(billcore_order_list_peek_page(list, &page, &err) == BILLCORE_DONE && page == NULL && err == NULL);
  CHECK_OK(billcore_order_list_skip(list, 0, &err));
  billcore_order_list_free(list);
}

int main(void) {
  enum { count = 5 };
  server* at = server_start(answer);
  billcore_client* client = client_of(at, "key", NULL, NULL);
  billcore_page* page = first_page(client); /* the page stays valid without its list */
  billcore_cell cells[count + 1];
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

  const billcore_status invalid = BILLCORE_ERROR_INVALID_ARGUMENT;
  CHECK_FAILS(billcore_page_column(page, BILLCORE_STR("id"), cells, count - 1, &err), invalid, "room for fewer");
  CHECK_FAILS(billcore_page_column(page, BILLCORE_STR("id"), cells, SIZE_MAX, &err), invalid, "any memory");
  CHECK_FAILS(billcore_page_column(page, BILLCORE_STR("id"), NULL, count, &err), invalid, "output");
  CHECK_FAILS(billcore_page_column(NULL, BILLCORE_STR("id"), cells, count, &err), invalid, "NULL");
  billcore_page_free(page);
  test_peek_and_skip(client);
  billcore_client_free(client);
  server_stop(at);
  return 0;
}
