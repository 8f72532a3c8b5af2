/* Lists as Arrow columns: pages, lifetimes, and the list's position after a wrong value. tests/core checks the values. */
#include <billcore/arrow.h>

#include "support/client.h"

static const char* answer(const char* request) {
#define FIVE(items, page) PAGE(items, "5", "2", page, "3")
  if (strstr(request, "/bad/") != NULL) return FIVE(ORDER("a") ",{\"id\":\"b\",\"total\":\"x\"}", "1");
  if (strstr(request, "page=2") != NULL) return FIVE(ORDER("c") "," ORDER("d"), "2");
  if (strstr(request, "page=3") != NULL) return FIVE(ORDER("e"), "3");
  return FIVE(ORDER("a") "," ORDER("b"), "1");
}

static int64_t column(const struct ArrowSchema* schema, const char* name, const char* format) {
  for (int64_t i = 0; i < schema->n_children; ++i) {
    if (strcmp(schema->children[i]->name, name) != 0) continue;
    CHECK(strcmp(schema->children[i]->format, format) == 0);
    return i;
  }
  CHECK(!"such a column");
  return -1;
}

static bool holds(const struct ArrowArray* column, int64_t row, const char* text) {
  const int32_t* offsets = column->buffers[1];
  const size_t length = (size_t)(offsets[row + 1] - offsets[row]);
  return length == strlen(text) && memcmp((const char*)column->buffers[2] + offsets[row], text, length) == 0;
}

static void test_pages(const billcore_client* client) {
  billcore_order_list* list = orders_of(client, "s", NULL);
  struct ArrowArray array;
  struct ArrowSchema schema;
  expect_next(list, "a"); /* the columns contain the items after it */
  CHECK_OK(billcore_order_list_next_arrow(list, &array, &schema, &err));
  CHECK(array.length == 1 && array.n_children == schema.n_children && strcmp(schema.format, "+s") == 0);
  CHECK(holds(array.children[column(&schema, "id", "u")], 0, "b"));
  array.release(&array);

  CHECK_OK(billcore_order_list_next_arrow(list, &array, NULL, &err));
  CHECK(array.length == 2);
  struct ArrowArray last;
  CHECK_OK(billcore_order_list_next_arrow(list, &last, NULL, &err));
  CHECK(last.length == 1);
  struct ArrowArray none = {.length = 5};
  CHECK(billcore_order_list_next_arrow(list, &none, NULL, &err) == BILLCORE_DONE && err == NULL);
  CHECK(none.release == NULL && none.length == 0);

  CHECK_INVALID(billcore_order_list_next_arrow(list, NULL, NULL, &err), "output");
  billcore_order_list_free(list); /* arrays and the schema stay valid without the list */
  CHECK(holds(array.children[column(&schema, "id", "u")], 0, "c"));
  array.release(&array);
  last.release(&last);
  schema.release(&schema);
  CHECK(array.release == NULL && schema.release == NULL);
}

/* If a value's type differs from its column's type, the call fails and the list keeps its position. */
static void test_a_wrong_value(const billcore_client* client) {
  billcore_order_list* list = orders_of(client, "bad", NULL);
  struct ArrowArray array;
  struct ArrowSchema schema;
  for (int i = 0; i < 2; ++i) {
    CHECK_FAILS(billcore_order_list_next_arrow(list, &array, &schema, &err), BILLCORE_ERROR_DECODE, "data[1].total");
    CHECK(array.release == NULL && schema.release == NULL);
  }
  expect_next(list, "a");
  billcore_order_list_free(list);
}

int main(void) {
  server* at = server_start(answer);
  billcore_client* client = client_of(at);
  test_pages(client);
  test_a_wrong_value(client);
  billcore_client_free(client);
  server_stop(at);
  return 0;
}
