/* Tests features of resources that the conformance tests of single getters cannot test: lifetimes, absent members, JSON
 * views and iteration. */
#include "support/events.h"

static const char order_event[] =
    "{\"id\":123456789012345678901234567890,\"name\":\"order.paid\",\"account\":7,\"created_at\":\"2025-04-25T10:00:"
    "00Z\","
    "\"data\":{\"id\":4711,\"created_at\":\"2025-04-25T12:00:00.5+02:00\",\"total\":1500,\"total_with_vat\":"
    "99999999999999999999,"
    "\"currency\":\"NOK\",\"reference_id\":null,\"state\":\"paid\",\"delivery\":{\"link\":\"https://files.example/1\"},"
    "\"custom_fields\":[{\"id\":1,\"label\":\"Size\",\"type\":\"text\",\"value\":{\"b\":[1,2.50],\"a\":null}}],"
    "\"metadata\":{\"k\":1},\"unheard_of\":[true]}}";

static void test_event(void) {
  billcore_error* err = NULL;
  billcore_event* event = event_of(order_event);
  billcore_str text;
  bool flag = true;
  int64_t number;
  billcore_event_kind type;
  billcore_data_kind kind;
  billcore_subscription* subscription = (billcore_subscription*)&flag;

  CHECK_OK(billcore_event_id(event, &text, &flag, &err));
  CHECK(is_text(text, "123456789012345678901234567890") && flag && text.data[text.len] == '\0');
  CHECK_OK(billcore_event_id(event, &text, NULL, &err));
  CHECK_OK(billcore_event_name(event, &text, &err));
  CHECK(is_text(text, "order.paid"));
  CHECK_OK(billcore_event_type(event, &type, &err));
  CHECK(type == BILLCORE_EVENT_ORDER_PAID);
  CHECK_OK(billcore_event_account(event, &number, &err));
  CHECK(number == 7);
  CHECK_OK(billcore_event_created_at(event, &text, &number, &err));
  CHECK(is_text(text, "2025-04-25T10:00:00Z") && number == INT64_C(1745575200000000));
  CHECK_OK(billcore_event_created_at(event, NULL, &number, &err));
  CHECK_OK(billcore_event_created_at(event, &text, NULL, &err));
  CHECK_OK(billcore_event_raw(event, &text, &err));
  CHECK(is_text(text, order_event));
  CHECK_OK(billcore_event_data_kind(event, &kind, &err));
  CHECK(kind == BILLCORE_DATA_ORDER);
  CHECK_FAILS(billcore_event_subscription(event, &subscription, &err), BILLCORE_ERROR_DECODE,
              "data is an order, not a subscription");
  CHECK(subscription == NULL);
  billcore_event_free(event);
}

static void test_order(void) {
  billcore_error* err = NULL;
  billcore_event* event = event_of(order_event);
  billcore_order* order = NULL;
  billcore_order* copy = NULL;
  billcore_custom_field* field = NULL;
  billcore_value* value = NULL;
  billcore_response_info* info = NULL;
  billcore_str text;
  billcore_str link;
  bool present;
  bool flag;
  int64_t number = 5;
  size_t count;

  CHECK_OK(billcore_event_order(event, &order, &err));
  billcore_event_free(event); /* the order outlives its event */

  CHECK_OK(billcore_order_id(order, &text, &flag, &err));
  CHECK(is_text(text, "4711") && flag);
  CHECK_OK(billcore_order_created_at(order, &text, &number, &err));
  CHECK(is_text(text, "2025-04-25T12:00:00.5+02:00") && number == INT64_C(1745575200500000));
  CHECK_OK(billcore_order_total(order, &number, &err));
  CHECK(number == 1500);
  CHECK_FAILS(billcore_order_total_with_vat(order, &number, &err), BILLCORE_ERROR_OUT_OF_RANGE, "data.total_with_vat");
  CHECK(number == 0);

  /* Getters return the same result for null and for an absent member; `contains` and `field` distinguish them. */
  CHECK_OK(billcore_order_reference_id(order, &text, &present, &err));
  CHECK(!present && text.data == NULL && text.len == 0);
  CHECK_OK(billcore_order_reference_name(order, &text, &present, &err));
  CHECK(!present);
  CHECK_OK(billcore_order_contains(order, BILLCORE_STR("reference_id"), &flag, &err));
  CHECK(flag);
  CHECK_OK(billcore_order_contains(order, BILLCORE_STR("reference_name"), &flag, &err));
  CHECK(!flag);
  CHECK_OK(billcore_order_field(order, BILLCORE_STR("reference_name"), &value, &present, &err));
  CHECK(!present && value == NULL);
  CHECK_OK(billcore_order_field(order, BILLCORE_STR("unheard_of"), &value, &present, &err));
  CHECK(present);
  CHECK_OK(billcore_value_raw(value, &text, &err));
  CHECK(is_text(text, "[true]"));
  billcore_value_free(value);

  CHECK_OK(billcore_order_delivery_link(order, &link, &present, &err));
  CHECK(present && is_text(link, "https://files.example/1"));
  CHECK_OK(billcore_order_response_info(order, &info, &present, &err));
  CHECK(!present && info == NULL);

  CHECK_OK(billcore_order_custom_fields_count(order, &count, &err));
  CHECK(count == 1);
  CHECK_FAILS(billcore_order_custom_field_at(order, 1, &field, &err), BILLCORE_ERROR_INVALID_ARGUMENT,
              "there is no item 1");
  CHECK_OK(billcore_order_custom_field_at(order, 0, &field, &err));
  CHECK_OK(billcore_order_copy(order, &copy, &err));
  CHECK_OK(billcore_order_equal(order, copy, &flag, &err));
  CHECK(flag);
  billcore_order_free(order);

  CHECK_OK(billcore_custom_field_label(field, &text, &err));
  CHECK(is_text(text, "Size"));
  CHECK_OK(billcore_custom_field_value(field, &value, &err));
  billcore_custom_field_free(field);
  CHECK_OK(billcore_value_raw(value, &text, &err));
  CHECK(is_text(text, "{\"b\":[1,2.50],\"a\":null}"));
  billcore_value_free(value);

  /* The error of a copied resource still names the path in the event. */
  CHECK_FAILS(billcore_order_total_with_vat(copy, &number, &err), BILLCORE_ERROR_OUT_OF_RANGE, "data.total_with_vat");
  billcore_order_free(copy);
}

static void test_values(void) {
  billcore_error* err = NULL;
  billcore_event* event =
      event_of("{\"name\":\"x\",\"data\":{\"a\":[1,2.50,\"t\\u0000x\",true,null],\"b\":1e400,\"a\":{}}}");
  billcore_value* data = NULL;
  billcore_value* item = NULL;
  billcore_value* same = NULL;
  billcore_value_iterator* each = NULL;
  billcore_buf path = {NULL, 0};
  billcore_kind kind;
  billcore_str name;
  billcore_str text;
  bool present;
  bool flag;
  double real;
  int64_t number;
  size_t size;

  CHECK_OK(billcore_event_data(event, &data, &present, &err));
  CHECK(present);
  billcore_event_free(event);
  CHECK_OK(billcore_value_count(data, &size, &err));
  CHECK(size == 3);
  CHECK_OK(billcore_value_copy(data, &same, &err));
  CHECK_OK(billcore_value_equal(data, same, &flag, &err));
  CHECK(flag);
  CHECK_FAILS(billcore_value_equal(data, NULL, &flag, &err), BILLCORE_ERROR_INVALID_ARGUMENT, "billcore_value");
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
  CHECK_OK(billcore_value_count(item, &size, &err));
  CHECK(size == 5);
  CHECK_OK(billcore_value_at(item, 0, &same, &err));
  CHECK_OK(billcore_value_integer(same, &number, &err));
  CHECK(number == 1);
  CHECK_FAILS(billcore_value_text(same, &text, &err), BILLCORE_ERROR_DECODE, "data.a[0]");
  billcore_value_free(same);
  CHECK_OK(billcore_value_at(item, 1, &same, &err));
  CHECK_OK(billcore_value_real(same, &real, &err));
  CHECK(real == 2.5);
  billcore_value_free(same);
  CHECK_OK(billcore_value_at(item, 2, &same, &err));
  CHECK_OK(billcore_value_text(same, &text, &err));
  CHECK(text.len == 3 && memcmp(text.data, "t\0x", 4) == 0);
  CHECK_OK(billcore_value_path(same, &path, &err));
  CHECK(strcmp(path.data, "data.a[2]") == 0 && path.len == 9);
  billcore_buf_free(&path);
  CHECK(path.data == NULL && path.len == 0);
  billcore_buf_free(&path);
  billcore_buf_free(NULL);
  billcore_value_free(same);
  CHECK_OK(billcore_value_at(item, 3, &same, &err));
  CHECK_OK(billcore_value_boolean(same, &flag, &err));
  CHECK(flag);
  billcore_value_free(same);
  CHECK_FAILS(billcore_value_at(item, 5, &same, &err), BILLCORE_ERROR_INVALID_ARGUMENT, "5");
  CHECK(same == NULL);
  billcore_value_free(item);
  CHECK_OK(billcore_value_iterator_next(each, NULL, &item, &err));
  CHECK_OK(billcore_value_raw(item, &text, &err));
  CHECK(is_text(text, "1e400"));
  billcore_value_free(item);
  CHECK_OK(billcore_value_iterator_next(each, &name, &item, &err));
  billcore_value_free(item);
  CHECK(billcore_value_iterator_next(each, &name, &item, &err) == BILLCORE_DONE);
  CHECK(item == NULL && name.data == NULL && err == NULL);
  CHECK(billcore_value_iterator_next(each, &name, &item, &err) == BILLCORE_DONE);
  billcore_value_iterator_free(each);
}

static void test_product(void) {
  billcore_error* err = NULL;
  billcore_event* event = event_of(
      "{\"name\":\"product.updated\",\"data\":{\"id\":42,\"vat_rate\":12.50,\"use_cart\":true,\"strings\":{\"price\":"
      "null},"
      "\"images\":[{\"portrait\":{\"src\":\"p\"},\"square\":{}}]}}");
  billcore_product* product = NULL;
  billcore_value* strings = NULL;
  billcore_image* image = NULL;
  billcore_str text;
  bool flag;
  size_t count;
  int64_t id;

  CHECK_OK(billcore_event_product(event, &product, &err));
  billcore_event_free(event);
  CHECK_OK(billcore_product_id(product, &id, &err));
  CHECK(id == 42);
  CHECK_OK(billcore_product_vat_rate(product, &text, &err));
  CHECK(is_text(text, "12.50") && text.data[text.len] == '\0');
  CHECK_OK(billcore_product_use_cart(product, &flag, &err));
  CHECK(flag);
  CHECK_FAILS(billcore_product_out_of_stock(product, &flag, &err), BILLCORE_ERROR_MISSING_FIELD,
              "data.out_of_stock is absent");
  CHECK(!flag);
  CHECK_OK(billcore_product_images_count(product, &count, &err));
  CHECK(count == 1);
  CHECK_OK(billcore_product_image_at(product, 0, &image, &err));
  CHECK_OK(billcore_image_portrait_src(image, &text, &err));
  CHECK(is_text(text, "p"));
  CHECK_FAILS(billcore_image_square_src(image, &text, &err), BILLCORE_ERROR_MISSING_FIELD, "data.images[0].square.src");
  billcore_image_free(image);
  CHECK_FAILS(billcore_product_image_at(product, 1, &image, &err), BILLCORE_ERROR_INVALID_ARGUMENT,
              "there is no item 1");
  CHECK(image == NULL);
  CHECK_OK(billcore_product_strings_price(product, &text, &flag, &err));
  CHECK(!flag);
  CHECK_OK(billcore_product_strings(product, &strings, &err));
  billcore_product_free(product);
  CHECK_OK(billcore_value_raw(strings, &text, &err));
  CHECK(is_text(text, "{\"price\":null}"));
  billcore_value_free(strings);
}

static void test_subscription_and_group(void) {
  billcore_error* err = NULL;
  billcore_event* event = event_of(
      "{\"name\":\"subscription.cancelled\",\"data\":{\"id\":\"s/"
      "1\",\"status\":\"cancelled\",\"ends_at\":\"1970-01-01T00:00:01Z\"}}");
  billcore_subscription* subscription = NULL;
  billcore_product_group* group = NULL;
  billcore_str text;
  bool flag;
  int64_t number;
  size_t count;

  CHECK_OK(billcore_event_subscription(event, &subscription, &err));
  billcore_event_free(event);
  CHECK_OK(billcore_subscription_id(subscription, &text, &flag, &err));
  CHECK(is_text(text, "s/1") && !flag);
  CHECK_OK(billcore_subscription_ends_at(subscription, &text, &number, &flag, &err));
  CHECK(flag && number == 1000000);
  CHECK_OK(billcore_subscription_renews_at(subscription, NULL, NULL, &flag, &err));
  CHECK(!flag);
  CHECK_OK(billcore_subscription_usable_at(subscription, 999999, &flag, &err));
  CHECK(flag);
  CHECK_OK(billcore_subscription_usable_at(subscription, 1000000, &flag, &err));
  CHECK(!flag);
  CHECK(billcore_subscription_price(subscription, &number, &err) == BILLCORE_ERROR_MISSING_FIELD);
  CHECK(billcore_error_status(err) == BILLCORE_ERROR_MISSING_FIELD);
  CHECK(is_text(billcore_error_field_path(err), "data.price"));
  billcore_error_free(err);
  billcore_subscription_free(subscription);

  event = event_of("{\"name\":\"subscription.cancelled\",\"data\":{\"status\":\"cancelled\"}}");
  CHECK_OK(billcore_event_subscription(event, &subscription, &err));
  billcore_event_free(event);
  CHECK_FAILS(billcore_subscription_usable_at(subscription, 0, &flag, &err), BILLCORE_ERROR_MISSING_FIELD,
              "data.ends_at is absent");
  CHECK(!flag);
  billcore_subscription_free(subscription);

  event = event_of("{\"name\":\"subscription.updated\",\"data\":{\"status\":\"new\",\"ends_at\":null}}");
  CHECK_OK(billcore_event_subscription(event, &subscription, &err));
  billcore_event_free(event);
  CHECK_FAILS(billcore_subscription_usable_at(subscription, 0, &flag, &err), BILLCORE_ERROR_DECODE,
              "data.status is not");
  billcore_subscription_free(subscription);

  event =
      event_of("{\"name\":\"product-group.updated\",\"data\":{\"id\":3,\"name\":\"Group\",\"products\":[5,\"x\"]}}");
  CHECK_OK(billcore_event_product_group(event, &group, &err));
  billcore_event_free(event);
  CHECK_OK(billcore_product_group_id(group, &number, &err));
  CHECK(number == 3);
  CHECK_FAILS(billcore_product_group_products_count(group, &count, &err), BILLCORE_ERROR_DECODE, "data.products[1]");
  billcore_product_group_free(group);

  event = event_of("{\"name\":\"product-group.updated\",\"data\":{\"products\":[5,6]}}");
  CHECK_OK(billcore_event_product_group(event, &group, &err));
  billcore_event_free(event);
  CHECK_OK(billcore_product_group_products_count(group, &count, &err));
  CHECK(count == 2);
  CHECK_OK(billcore_product_group_product_at(group, 1, &number, &err));
  CHECK(number == 6);
  billcore_product_group_free(group);
}

int main(void) {
  test_event();
  test_order();
  test_values();
  test_product();
  test_subscription_and_group();
  return 0;
}
