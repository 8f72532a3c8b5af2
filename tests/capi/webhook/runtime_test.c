/* Tests reading fields by name, as the bindings of other languages do: names with the suffix `?`, paths, and refused
 * names. */
#include "support/events.h"

static const char event_text[] =
    "{\"name\":\"order.paid\",\"data\":{\"id\":7,\"text\":\"t\",\"null\":null,\"number\":12.50,\"flag\":true,"
    "\"huge\":123456789012345678901,\"at\":\"2025-04-25T10:00:00Z\",\"inner\":{\"deep\":{\"x\":1}},\"list\":[{\"a\":1},"
    "{"
    "\"a\":2}],\"numbers\":[1,2,3],\"mixed\":[{},1]}}";

static billcore_resource* resource_of(void) {
  billcore_error* err = NULL;
  billcore_resource* out = NULL;
  billcore_event* event = event_of(event_text);
  CHECK_FAILS(billcore_event_resource(event, BILLCORE_DATA_PRODUCT, &out, &err), BILLCORE_ERROR_DECODE,
              "data is an order, not a product");
  CHECK_FAILS(billcore_event_resource(event, BILLCORE_DATA_NONE, &out, &err), BILLCORE_ERROR_INVALID_ARGUMENT,
              "kind must be");
  CHECK_FAILS(billcore_event_resource(event, -1, &out, &err), BILLCORE_ERROR_INVALID_ARGUMENT, "kind must be");
  CHECK(out == NULL);
  CHECK_OK(billcore_event_resource(event, BILLCORE_DATA_ORDER, &out, &err));
  billcore_event_free(event);
  return out;
}

static void test_marks(const billcore_resource* it) {
  billcore_error* err = NULL;
  billcore_str text;
  int64_t number;
  bool present;
  bool flag;
  CHECK_OK(billcore_resource_text(it, BILLCORE_STR("text"), &text, NULL, &err));
  CHECK(is_text(text, "t"));
  CHECK_OK(billcore_resource_text(it, BILLCORE_STR("text"), &text, &present, &err));
  CHECK(present);
  CHECK_OK(billcore_resource_text(it, BILLCORE_STR("text?"), &text, &present, &err));
  CHECK(present && is_text(text, "t"));
  CHECK_OK(billcore_resource_text(it, BILLCORE_STR("null?"), &text, &present, &err));
  CHECK(!present && text.data == NULL);
  CHECK_OK(billcore_resource_int64(it, BILLCORE_STR("absent?"), &number, &present, &err));
  CHECK(!present && number == 0);
  CHECK_OK(billcore_resource_bool(it, BILLCORE_STR("flag?"), &flag, &present, &err));
  CHECK(present && flag);
  CHECK_FAILS(billcore_resource_text(it, BILLCORE_STR("null"), &text, NULL, &err), BILLCORE_ERROR_DECODE, "data.null");
  CHECK_FAILS(billcore_resource_text(it, BILLCORE_STR("absent"), &text, NULL, &err), BILLCORE_ERROR_MISSING_FIELD,
              "data.absent");
  CHECK_FAILS(billcore_resource_text(it, BILLCORE_STR("id?"), &text, &present, &err), BILLCORE_ERROR_DECODE, "data.id");
  CHECK_FAILS(billcore_resource_text(it, BILLCORE_STR("text?"), &text, NULL, &err), BILLCORE_ERROR_INVALID_ARGUMENT,
              "NULL");
  CHECK_FAILS(billcore_resource_int64(it, BILLCORE_STR("huge"), &number, NULL, &err), BILLCORE_ERROR_OUT_OF_RANGE,
              "data.huge");
  CHECK_FAILS(billcore_resource_int64(it, BILLCORE_STR(""), &number, NULL, &err), BILLCORE_ERROR_MISSING_FIELD, "data");
  CHECK_FAILS(billcore_resource_int64(it, BILLCORE_STR("?"), &number, NULL, &err), BILLCORE_ERROR_INVALID_ARGUMENT,
              "NULL");
}

static void test_paths(const billcore_resource* it) {
  billcore_error* err = NULL;
  billcore_value* value = NULL;
  int64_t number;
  bool present;
  CHECK_OK(billcore_resource_int64(it, BILLCORE_STR("/inner/deep/x"), &number, NULL, &err));
  CHECK(number == 1);
  CHECK_OK(billcore_resource_int64(it, BILLCORE_STR("/absent?/deep/x"), &number, &present, &err));
  CHECK(!present);
  CHECK_OK(billcore_resource_int64(it, BILLCORE_STR("/inner/null?/x"), &number, &present, &err));
  CHECK(!present);
  CHECK_OK(billcore_resource_int64(it, BILLCORE_STR("/inner/deep/y?"), &number, &present, &err));
  CHECK(!present);
  CHECK_FAILS(billcore_resource_int64(it, BILLCORE_STR("/inner?/deep/y"), &number, &present, &err),
              BILLCORE_ERROR_MISSING_FIELD, "data.inner.deep.y");
  CHECK_FAILS(billcore_resource_int64(it, BILLCORE_STR("/inner?/deep/y"), &number, NULL, &err),
              BILLCORE_ERROR_INVALID_ARGUMENT, "NULL");
  CHECK_FAILS(billcore_resource_int64(it, BILLCORE_STR("/text/x"), &number, NULL, &err), BILLCORE_ERROR_DECODE,
              "data.text");
  CHECK_FAILS(billcore_resource_int64(it, BILLCORE_STR("//x"), &number, NULL, &err), BILLCORE_ERROR_MISSING_FIELD,
              "data");
  CHECK_OK(billcore_resource_object(it, BILLCORE_STR("/inner/deep"), &value, NULL, &err));
  billcore_value_free(value);
  CHECK_FAILS(billcore_resource_object(it, BILLCORE_STR("list"), &value, NULL, &err), BILLCORE_ERROR_DECODE,
              "data.list");
  CHECK_OK(billcore_resource_any(it, BILLCORE_STR("null"), &value, NULL, &err));
  billcore_value_free(value);
}

static void test_numbers_as_text(const billcore_resource* it) {
  billcore_error* err = NULL;
  billcore_str first;
  billcore_str again;
  billcore_str other;
  bool is_integer;
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(billcore_resource_number(it, BILLCORE_STR("number"), &first, NULL, &err));
    CHECK_OK(billcore_resource_number(it, BILLCORE_STR("huge"), &other, NULL, &err));
    CHECK(is_text(first, "12.50") && first.data[first.len] == '\0');
    CHECK(is_text(other, "123456789012345678901") && other.data[other.len] == '\0');
    CHECK_OK(billcore_resource_id(it, BILLCORE_STR("id"), &other, &is_integer, NULL, &err));
    CHECK(is_text(other, "7") && is_integer);
    CHECK_OK(billcore_resource_number(it, BILLCORE_STR("number"), &again, NULL, &err));
    CHECK(again.data == first.data); /* both calls return the same text, which the handle owns */
  }
  CHECK_FAILS(billcore_resource_number(it, BILLCORE_STR("text"), &first, NULL, &err), BILLCORE_ERROR_DECODE,
              "data.text");
}

static void test_lists(const billcore_resource* it) {
  billcore_error* err = NULL;
  billcore_resource* item = NULL;
  size_t count;
  int64_t number;
  CHECK_OK(billcore_resource_list_count(it, BILLCORE_STR("list"), &count, &err));
  CHECK(count == 2);
  CHECK_OK(billcore_resource_list_at(it, BILLCORE_STR("list"), 1, &item, &err));
  CHECK_OK(billcore_resource_int64(item, BILLCORE_STR("a"), &number, NULL, &err));
  CHECK(number == 2);
  CHECK_FAILS(billcore_resource_int64(item, BILLCORE_STR("b"), &number, NULL, &err), BILLCORE_ERROR_MISSING_FIELD,
              "data.list[1].b");
  billcore_resource_free(item);
  CHECK_FAILS(billcore_resource_list_at(it, BILLCORE_STR("list"), 2, &item, &err), BILLCORE_ERROR_INVALID_ARGUMENT,
              "there is no item 2");
  CHECK(item == NULL);
  CHECK_FAILS(billcore_resource_list_count(it, BILLCORE_STR("mixed"), &count, &err), BILLCORE_ERROR_DECODE,
              "data.mixed[1]");
  CHECK_FAILS(billcore_resource_list_count(it, BILLCORE_STR("text"), &count, &err), BILLCORE_ERROR_DECODE, "data.text");
  CHECK_FAILS(billcore_resource_list_count(it, BILLCORE_STR("list?"), &count, &err), BILLCORE_ERROR_INVALID_ARGUMENT,
              "'?'");
  CHECK_OK(billcore_resource_integers_count(it, BILLCORE_STR("numbers"), &count, &err));
  CHECK(count == 3);
  CHECK_OK(billcore_resource_integer_at(it, BILLCORE_STR("numbers"), 2, &number, &err));
  CHECK(number == 3);
}

int main(void) {
  billcore_resource* it = resource_of();
  test_marks(it);
  test_paths(it);
  test_numbers_as_text(it);
  test_lists(it);
  billcore_resource_free(it);
  return 0;
}
