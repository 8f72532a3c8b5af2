/* Tests reading fields by name, as the bindings of other languages do: names with the suffix `?`, paths, and refused
 * names. */
#include "support/events.h"

static const char event_text[] =
    "{\"name\":\"order.paid\",\"data\":{\"id\":7,\"text\":\"t\",\"null\":null,\"number\":12.50,\"flag\":true,"
    "\"huge\":123456789012345678901,\"inner\":{\"deep\":{\"x\":1}},\"list\":[{\"a\":1},{\"a\":2}],"
    "\"numbers\":[1,2,3],\"mixed\":[{},1]}}";

static billcore_resource* resource_of(void) {
  billcore_resource* out = NULL;
  billcore_event* event = event_of(event_text);
  CHECK_FAILS(billcore_event_resource(event, BILLCORE_DATA_PRODUCT, &out, &err), BILLCORE_ERROR_DECODE,
              "data is an order, not a product");
  static const billcore_data_kind refused[] = {BILLCORE_DATA_NONE, BILLCORE_DATA_VALUE, -1, 99};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i) {
    CHECK_INVALID(billcore_event_resource(event, refused[i], &out, &err), "kind must be");
  }
  CHECK(out == NULL);
  CHECK_OK(billcore_event_resource(event, BILLCORE_DATA_ORDER, &out, &err));
  billcore_event_free(event);
  return out;
}

/* What a getter says of a name. With "absent", the getter returns BILLCORE_OK and sets `present` to false. */
typedef struct {
  const char* name;
  billcore_status status;
  const char* words; /* NULL: present */
} row;

static const char absent[] = "absent";
static const row texts[] = {
    {"text", BILLCORE_OK, NULL},
    {"text?", BILLCORE_OK, NULL},
    {"null?", BILLCORE_OK, absent},
    {"null", BILLCORE_ERROR_DECODE, "data.null"},
    {"none", BILLCORE_ERROR_MISSING_FIELD, "data.none"},
    {"id?", BILLCORE_ERROR_DECODE, "data.id"},
};
static const row integers[] = {
    {"id", BILLCORE_OK, NULL},
    {"none?", BILLCORE_OK, absent},
    {"huge", BILLCORE_ERROR_OUT_OF_RANGE, "data.huge"},
    {"", BILLCORE_ERROR_MISSING_FIELD, "data"},
    {"/inner/deep/x", BILLCORE_OK, NULL},
    {"/none?/deep/x", BILLCORE_OK, absent},
    {"/inner/null?/x", BILLCORE_OK, absent},
    {"/inner/deep/y?", BILLCORE_OK, absent},
    {"/inner?/deep/y", BILLCORE_ERROR_MISSING_FIELD, "data.inner.deep.y"},
    {"/text/x", BILLCORE_ERROR_DECODE, "data.text"},
    {"//x", BILLCORE_ERROR_MISSING_FIELD, "data"},
};

static void check_row(const row* self, billcore_status status, bool present) {
  CHECK(status == self->status && billcore_error_status(err) == status);
  CHECK(present == (self->words == NULL));
  if (status != BILLCORE_OK) CHECK(strstr(billcore_error_message(err).data, self->words) != NULL);
  billcore_error_free(err);
  err = NULL;
}

static void test_names(const billcore_resource* it) {
  billcore_str text;
  int64_t number;
  bool present;
  bool flag;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    const billcore_status status = billcore_resource_text(it, billcore_str_from(texts[i].name), &text, &present, &err);
    CHECK(present ? is_text(text, "t") : text.data == NULL);
    check_row(&texts[i], status, present);
  }
  for (size_t i = 0; i < sizeof integers / sizeof *integers; ++i) {
    const billcore_str name = billcore_str_from(integers[i].name);
    const billcore_status status = billcore_resource_int64(it, name, &number, &present, &err);
    CHECK(present == (number == 7 || number == 1));
    check_row(&integers[i], status, present);
  }
  /* Only a name without `?` needs no `present`. */
  CHECK_OK(billcore_resource_text(it, BILLCORE_STR("text"), &text, NULL, &err));
  CHECK_INVALID(billcore_resource_text(it, BILLCORE_STR("text?"), &text, NULL, &err), "NULL");
  CHECK_INVALID(billcore_resource_int64(it, BILLCORE_STR("?"), &number, NULL, &err), "NULL");
  CHECK_INVALID(billcore_resource_int64(it, BILLCORE_STR("/inner?/deep/y"), &number, NULL, &err), "NULL");
  CHECK_OK(billcore_resource_bool(it, BILLCORE_STR("flag?"), &flag, &present, &err));
  CHECK(present && flag);
}

static void test_objects(const billcore_resource* it) {
  billcore_value* value = NULL;
  CHECK_OK(billcore_resource_object(it, BILLCORE_STR("/inner/deep"), &value, NULL, &err));
  billcore_value_free(value);
  CHECK_FAILS(billcore_resource_object(it, BILLCORE_STR("list"), &value, NULL, &err), BILLCORE_ERROR_DECODE,
              "data.list");
  CHECK_OK(billcore_resource_any(it, BILLCORE_STR("null"), &value, NULL, &err));
  billcore_value_free(value);
}

static void test_numbers_as_text(const billcore_resource* it) {
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
  CHECK_INVALID(billcore_resource_list_at(it, BILLCORE_STR("list"), 2, &item, &err), "there is no item 2");
  CHECK(item == NULL);
  CHECK_FAILS(billcore_resource_list_count(it, BILLCORE_STR("mixed"), &count, &err), BILLCORE_ERROR_DECODE,
              "data.mixed[1]");
  CHECK_INVALID(billcore_resource_list_count(it, BILLCORE_STR("list?"), &count, &err), "'?'");
  CHECK_OK(billcore_resource_integers_count(it, BILLCORE_STR("numbers"), &count, &err));
  CHECK(count == 3);
  CHECK_OK(billcore_resource_integer_at(it, BILLCORE_STR("numbers"), 2, &number, &err));
  CHECK(number == 3);
}

int main(void) {
  billcore_resource* it = resource_of();
  test_names(it);
  test_objects(it);
  test_numbers_as_text(it);
  test_lists(it);
  billcore_resource_free(it);
  return 0;
}
