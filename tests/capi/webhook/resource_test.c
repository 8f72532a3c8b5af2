/* Tests features of resources that the conformance tests of single getters cannot test: lifetimes, absent members, JSON
 * views and iteration. */
#include "support/events.h"

static const char order_event[] =
    "{\"id\":123456789012345678901234567890,\"name\":\"order.paid\",\"account\":7,"
    "\"created_at\":\"2025-04-25T10:00:00Z\",\"data\":{\"id\":4711,\"total\":1500,"
    "\"total_with_vat\":99999999999999999999,\"reference_id\":null,"
    "\"custom_fields\":[{\"id\":1,\"label\":\"Size\",\"value\":{\"b\":[1,2.50],\"a\":null}}],"
    "\"unheard_of\":[true]}}";

/* Checks the JSON of the value, and frees the value. */
static void expect_raw(billcore_value* value, const char* json) {
  billcore_str text;
  CHECK_OK(billcore_value_raw(value, &text, &err));
  CHECK(is_text(text, json));
  billcore_value_free(value);
}

static void test_event(void) {
  billcore_event* event = event_of(order_event);
  billcore_str text;
  bool flag = true;
  int64_t number;
  billcore_event_kind type;
  billcore_subscription* subscription = (billcore_subscription*)&flag;
  CHECK_OK(billcore_event_id(event, &text, &flag, &err));
  CHECK(is_text(text, "123456789012345678901234567890") && flag && text.data[text.len] == '\0');
  CHECK_OK(billcore_event_id(event, &text, NULL, &err));
  CHECK_OK(billcore_event_type(event, &type, &err));
  CHECK(type == BILLCORE_EVENT_ORDER_PAID);
  CHECK_OK(billcore_event_created_at(event, NULL, &number, &err));
  CHECK(number == INT64_C(1745575200000000));
  CHECK_OK(billcore_event_created_at(event, &text, NULL, &err));
  CHECK(is_text(text, "2025-04-25T10:00:00Z"));
  CHECK_FAILS(billcore_event_subscription(event, &subscription, &err), BILLCORE_ERROR_DECODE,
              "data is an order, not a subscription");
  CHECK(subscription == NULL);
  billcore_event_free(event);
}

static void test_order(void) {
  billcore_event* event = event_of(order_event);
  billcore_order* order = NULL;
  billcore_order* copy = NULL;
  billcore_custom_field* field = NULL;
  billcore_value* value = NULL;
  billcore_response_info* info = NULL;
  billcore_str text;
  bool present;
  bool flag;
  int64_t number = 5;
  size_t count;
  CHECK_OK(billcore_event_order(event, &order, &err));
  billcore_event_free(event); /* the order outlives its event */
  CHECK_OK(billcore_order_total(order, &number, &err));
  CHECK(number == 1500);
  CHECK_FAILS(billcore_order_total_with_vat(order, &number, &err), BILLCORE_ERROR_OUT_OF_RANGE, "data.total_with_vat");
  CHECK(number == 0);

  CHECK_OK(billcore_order_reference_id(order, &text, &present, &err));
  CHECK(!present && text.data == NULL && text.len == 0);
  CHECK_OK(billcore_order_contains(order, BILLCORE_STR("reference_id"), &flag, &err));
  CHECK(flag);
  CHECK_OK(billcore_order_field(order, BILLCORE_STR("reference_name"), &value, &present, &err));
  CHECK(!present && value == NULL);
  CHECK_OK(billcore_order_field(order, BILLCORE_STR("unheard_of"), &value, &present, &err));
  CHECK(present);
  expect_raw(value, "[true]");
  CHECK_OK(billcore_order_response_info(order, &info, &present, &err));
  CHECK(!present && info == NULL);

  CHECK_OK(billcore_order_custom_fields_count(order, &count, &err));
  CHECK(count == 1);
  CHECK_INVALID(billcore_order_custom_field_at(order, 1, &field, &err), "there is no item 1");
  CHECK_OK(billcore_order_custom_field_at(order, 0, &field, &err));
  CHECK_OK(billcore_order_copy(order, &copy, &err));
  CHECK_OK(billcore_order_equal(order, copy, &flag, &err));
  CHECK(flag);
  billcore_order_free(order);
  CHECK_OK(billcore_custom_field_label(field, &text, &err));
  CHECK(is_text(text, "Size"));
  CHECK_OK(billcore_custom_field_value(field, &value, &err));
  billcore_custom_field_free(field);
  expect_raw(value, "{\"b\":[1,2.50],\"a\":null}");
  /* The error of a copied resource still names the path in the event. */
  CHECK_FAILS(billcore_order_total_with_vat(copy, &number, &err), BILLCORE_ERROR_OUT_OF_RANGE, "data.total_with_vat");
  billcore_order_free(copy);
}

static billcore_value* item_of(const billcore_value* array, size_t index) {
  billcore_value* out = NULL;
  CHECK_OK(billcore_value_at(array, index, &out, &err));
  return out;
}

/* The getters of each kind of value. */
static void test_items(const billcore_value* array) {
  billcore_value* item = item_of(array, 0);
  billcore_buf path = {NULL, 0};
  billcore_str text;
  bool flag;
  double real;
  int64_t number;
  size_t size;
  CHECK_OK(billcore_value_count(array, &size, &err));
  CHECK(size == 5);
  CHECK_OK(billcore_value_integer(item, &number, &err));
  CHECK(number == 1);
  CHECK_FAILS(billcore_value_text(item, &text, &err), BILLCORE_ERROR_DECODE, "data.a[0]");
  billcore_value_free(item);
  item = item_of(array, 1);
  CHECK_OK(billcore_value_real(item, &real, &err));
  CHECK(real == 2.5);
  billcore_value_free(item);
  item = item_of(array, 2);
  CHECK_OK(billcore_value_text(item, &text, &err));
  CHECK(text.len == 3 && memcmp(text.data, "t\0x", 4) == 0);
  CHECK_OK(billcore_value_path(item, &path, &err));
  CHECK(strcmp(path.data, "data.a[2]") == 0 && path.len == 9);
  billcore_buf_free(&path);
  CHECK(path.data == NULL && path.len == 0);
  billcore_buf_free(&path);
  billcore_buf_free(NULL);
  billcore_value_free(item);
  item = item_of(array, 3);
  CHECK_OK(billcore_value_boolean(item, &flag, &err));
  CHECK(flag);
  billcore_value_free(item);
  CHECK_INVALID(billcore_value_at(array, 5, &item, &err), "5");
  CHECK(item == NULL);
}

static void test_values(void) {
  billcore_event* event =
      event_of("{\"name\":\"x\",\"data\":{\"a\":[1,2.50,\"t\\u0000x\",true,null],\"b\":1e400,\"a\":{}}}");
  billcore_value* data = NULL;
  billcore_value* item = NULL;
  billcore_value* same = NULL;
  billcore_value_iterator* each = NULL;
  billcore_kind kind;
  billcore_str name;
  bool present;
  bool flag;
  size_t size;
  CHECK_OK(billcore_event_data(event, &data, &present, &err));
  CHECK(present);
  billcore_event_free(event);
  CHECK_OK(billcore_value_count(data, &size, &err));
  CHECK(size == 3);
  CHECK_OK(billcore_value_copy(data, &same, &err));
  CHECK_OK(billcore_value_equal(data, same, &flag, &err));
  CHECK(flag);
  CHECK_INVALID(billcore_value_equal(data, NULL, &flag, &err), "billcore_value");
  billcore_value_free(same);

  /* Of several members with the same name, `find` returns the last one; the iteration returns all of them. */
  CHECK_OK(billcore_value_find(data, BILLCORE_STR("a"), &item, &present, &err));
  CHECK_OK(billcore_value_kind(item, &kind, &err));
  CHECK(present && kind == BILLCORE_KIND_OBJECT);
  billcore_value_free(item);
  CHECK_OK(billcore_value_iterator_new(data, &each, &err));
  billcore_value_free(data); /* the iterator owns a reference to the value */
  CHECK_OK(billcore_value_iterator_next(each, &name, &item, &err));
  CHECK(is_text(name, "a"));
  test_items(item);
  billcore_value_free(item);
  CHECK_OK(billcore_value_iterator_next(each, NULL, &item, &err));
  expect_raw(item, "1e400");
  CHECK_OK(billcore_value_iterator_next(each, &name, &item, &err));
  billcore_value_free(item);
  for (int again = 0; again < 2; ++again) {
    CHECK(billcore_value_iterator_next(each, &name, &item, &err) == BILLCORE_DONE);
    CHECK(item == NULL && name.data == NULL && err == NULL);
  }
  billcore_value_iterator_free(each);
}

/* The parts of a product outlive it. */
static void test_product(void) {
  billcore_event* event =
      event_of("{\"name\":\"product.updated\",\"data\":{\"strings\":{\"price\":null},\"images\":[{\"square\":{}}]}}");
  billcore_product* product = NULL;
  billcore_value* strings = NULL;
  billcore_image* image = NULL;
  billcore_str text;
  CHECK_OK(billcore_event_product(event, &product, &err));
  billcore_event_free(event);
  CHECK_OK(billcore_product_image_at(product, 0, &image, &err));
  CHECK_OK(billcore_product_strings(product, &strings, &err));
  billcore_product_free(product);
  CHECK(billcore_image_square_src(image, &text, &err) == BILLCORE_ERROR_MISSING_FIELD);
  CHECK(is_text(billcore_error_field_path(err), "data.images[0].square.src"));
  billcore_error_free(err);
  err = NULL;
  billcore_image_free(image);
  expect_raw(strings, "{\"price\":null}");
}

static billcore_status usable_at(const char* event_text, int64_t now, bool* flag) {
  billcore_event* event = event_of(event_text);
  billcore_subscription* subscription = NULL;
  CHECK_OK(billcore_event_subscription(event, &subscription, &err));
  billcore_event_free(event);
  const billcore_status status = billcore_subscription_usable_at(subscription, now, flag, &err);
  billcore_subscription_free(subscription);
  return status;
}

static void test_subscription(void) {
#define CANCELLED(more) "{\"name\":\"subscription.cancelled\",\"data\":{\"status\":\"cancelled\"" more "}}"
  bool flag = false;
  CHECK_OK(usable_at(CANCELLED(",\"ends_at\":\"1970-01-01T00:00:01Z\""), 999999, &flag));
  CHECK(flag);
  CHECK_OK(usable_at(CANCELLED(",\"ends_at\":\"1970-01-01T00:00:01Z\""), 1000000, &flag));
  CHECK(!flag);
  flag = true;
  CHECK_FAILS(usable_at(CANCELLED(""), 0, &flag), BILLCORE_ERROR_MISSING_FIELD, "data.ends_at is absent");
  CHECK(!flag);
}

int main(void) {
  test_event();
  test_order();
  test_values();
  test_product();
  test_subscription();
  return 0;
}
