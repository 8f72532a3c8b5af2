/* Lists as Arrow columns: values, nulls, pages, and the list's position after a wrong value. tests/python checks every
 * kind of column with pyarrow; this test checks the C data interface. */
#include <billcore/arrow.h>

#include "support/client.h"

#define PAGE(number, items)                                   \
  "HTTP/1.1 200 OK" HEAD "{\"data\":[" items                  \
  "],\"pagination\":{\"total\":5,\"count\":2,\"per_page\":2," \
  "\"current_page\":" number ",\"total_pages\":3,\"links\":{}}}"

static billcore_error* err;

static const char* answer(const char* request) {
  if (strstr(request, "/subscription/bad/") != NULL) {
    return PAGE("1", ORDER("a") ",{\"id\":\"b\",\"total\":\"x\"}");
  }
  if (strstr(request, "page=2") != NULL) return PAGE("2", ORDER("c") ",{\"id\":7,\"total\":-5,\"state\":null}");
  if (strstr(request, "page=3") != NULL) return PAGE("3", "{\"id\":\"e\"}");
  return PAGE("1", ORDER("a") "," ORDER("b"));
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

static bool is_null(const struct ArrowArray* column, int64_t row) {
  const unsigned char* valid = column->buffers[0];
  return valid != NULL && (valid[row / 8] >> (row % 8) & 1) == 0;
}

static bool holds(const struct ArrowArray* column, int64_t row, const char* text) {
  const int32_t* offsets = column->buffers[1];
  const size_t length = (size_t)(offsets[row + 1] - offsets[row]);
  return length == strlen(text) && memcmp((const char*)column->buffers[2] + offsets[row], text, length) == 0;
}

static billcore_order_list* list_of(const billcore_client* client, const char* subscription) {
  billcore_order_list* out = NULL;
  CHECK_OK(billcore_subscription_orders_new(client, billcore_str_from(subscription), NULL, NULL, &out, &err));
  return out;
}

static void test_pages(const billcore_client* client) {
  billcore_order_list* list = list_of(client, "s");
  billcore_order* first = NULL;
  struct ArrowArray array;
  struct ArrowSchema schema;
  CHECK_OK(billcore_order_list_next(list, &first, &err)); /* the columns contain the items after `first` */
  billcore_order_free(first);

  CHECK_OK(billcore_order_list_next_arrow(list, &array, &schema, &err));
  CHECK(array.length == 1 && array.n_children == schema.n_children && strcmp(schema.format, "+s") == 0);
  CHECK(holds(array.children[column(&schema, "id", "u")], 0, "b"));
  array.release(&array);

  CHECK_OK(billcore_order_list_next_arrow(list, &array, NULL, &err));
  CHECK(array.length == 2);
  const struct ArrowArray* total = array.children[column(&schema, "total", "l")];
  CHECK(((const int64_t*)total->buffers[1])[0] == 1500 && ((const int64_t*)total->buffers[1])[1] == -5);
  CHECK(holds(array.children[column(&schema, "id", "u")], 1, "7"));
  CHECK(is_null(array.children[column(&schema, "state", "u")], 1));
  CHECK(!is_null(array.children[column(&schema, "state", "u")], 0));
  CHECK(is_null(array.children[column(&schema, "created_at", "tsu:UTC")], 0));

  struct ArrowArray last;
  CHECK_OK(billcore_order_list_next_arrow(list, &last, NULL, &err));
  CHECK(last.length == 1 && is_null(last.children[column(&schema, "total", "l")], 0));
  struct ArrowArray none = {.length = 5};
  CHECK(billcore_order_list_next_arrow(list, &none, NULL, &err) == BILLCORE_DONE && err == NULL);
  CHECK(none.release == NULL && none.length == 0);

  billcore_order_list_free(list); /* arrays and the schema stay valid without the list */
  CHECK(holds(array.children[column(&schema, "id", "u")], 0, "c"));
  array.release(&array);
  last.release(&last);
  schema.release(&schema);
  CHECK(array.release == NULL && schema.release == NULL);
}

/* If a value's type differs from its column's type, the call fails and the list keeps its position. */
static void test_a_wrong_value(const billcore_client* client) {
  billcore_order_list* list = list_of(client, "bad");
  struct ArrowArray array;
  struct ArrowSchema schema;
  billcore_order* order = NULL;
  billcore_str id;
  for (int i = 0; i < 2; ++i) {
    CHECK_FAILS(billcore_order_list_next_arrow(list, &array, &schema, &err), BILLCORE_ERROR_DECODE, "data[1].total");
    CHECK(array.release == NULL && schema.release == NULL);
  }
  CHECK_OK(billcore_order_list_next(list, &order, &err));
  CHECK_OK(billcore_order_id(order, &id, NULL, &err));
  CHECK(is_text(id, "a"));
  billcore_order_free(order);
  billcore_order_list_free(list);
}

static void test_other_kinds(const billcore_client* client) {
  billcore_product_list* products = NULL;
  billcore_subscription_list* subscriptions = NULL;
  struct ArrowArray array;
  struct ArrowSchema schema;
  CHECK_OK(billcore_product_list_new(client, NULL, NULL, &products, &err));
  CHECK_FAILS(billcore_product_list_next_arrow(products, &array, &schema, &err), BILLCORE_ERROR_DECODE, "data[0].id");
  billcore_product_list_free(products);
  CHECK_OK(billcore_subscription_list_new(client, NULL, NULL, &subscriptions, &err));
  CHECK_OK(billcore_subscription_list_next_arrow(subscriptions, &array, &schema, &err));
  CHECK(array.length == 2 && column(&schema, "reference_id", "u") >= 0);
  array.release(&array);
  schema.release(&schema);
  CHECK_FAILS(billcore_subscription_list_next_arrow(subscriptions, NULL, NULL, &err), BILLCORE_ERROR_INVALID_ARGUMENT,
              "output");
  billcore_subscription_list_free(subscriptions);
}

int main(void) {
  server* at = server_start(answer);
  billcore_client* client = client_of(at, "key", NULL, NULL);
  test_pages(client);
  test_a_wrong_value(client);
  test_other_kinds(client);
  billcore_client_free(client);
  server_stop(at);
  return 0;
}
