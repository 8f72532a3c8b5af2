/* Fields of resources and columns of pages, by value. */
#ifndef BILLCORE_GO_RECORD_H
#define BILLCORE_GO_RECORD_H

#include <billcore/pager.h>
#include <billcore/subscription.h>

#include "native.h"

typedef struct bg_field {
  billcore_str text;
  int64_t number;
  billcore_error* err;
  void* made;
  billcore_status status;
  bool present;
} bg_field;

/* Where a name has no mark, `present` is not set by the library. */
static bg_field bg_text(const void* from, const char* name, size_t len) {
  bg_field f = {.present = true};
  f.status = billcore_resource_text(from, bg_str(name, len), &f.text, &f.present, &f.err);
  return f;
}
static bg_field bg_number(const void* from, const char* name, size_t len) {
  bg_field f = {.present = true};
  f.status = billcore_resource_number(from, bg_str(name, len), &f.text, &f.present, &f.err);
  return f;
}
static bg_field bg_id(const void* from, const char* name, size_t len) {
  bg_field f = {.present = true};
  f.status = billcore_resource_id(from, bg_str(name, len), &f.text, NULL, &f.present, &f.err);
  return f;
}
static bg_field bg_int64(const void* from, const char* name, size_t len) {
  bg_field f = {.present = true};
  f.status = billcore_resource_int64(from, bg_str(name, len), &f.number, &f.present, &f.err);
  return f;
}
static bg_field bg_bool(const void* from, const char* name, size_t len) {
  bg_field f = {.present = true};
  bool out = false;
  f.status = billcore_resource_bool(from, bg_str(name, len), &out, &f.present, &f.err);
  f.number = out;
  return f;
}
static bg_field bg_time(const void* from, const char* name, size_t len) {
  bg_field f = {.present = true};
  f.status = billcore_resource_time(from, bg_str(name, len), NULL, &f.number, &f.present, &f.err);
  return f;
}
/* The text of a JSON value; `made` keeps it alive. */
static bg_field bg_raw_of(billcore_value* value, bg_field f) {
  if (value != NULL && f.status == BILLCORE_OK) f.status = billcore_value_raw(value, &f.text, &f.err);
  f.made = value;
  return f;
}
static bg_field bg_object(const void* from, const char* name, size_t len) {
  bg_field f = {.present = true};
  billcore_value* value = NULL;
  f.status = billcore_resource_object(from, bg_str(name, len), &value, &f.present, &f.err);
  return bg_raw_of(value, f);
}
static bg_field bg_any(const void* from, const char* name, size_t len) {
  bg_field f = {.present = true};
  billcore_value* value = NULL;
  f.status = billcore_resource_any(from, bg_str(name, len), &value, &f.present, &f.err);
  return bg_raw_of(value, f);
}
static bg_field bg_field_of(const void* from, const char* name, size_t len) {
  bg_field f = {.present = true};
  billcore_value* value = NULL;
  f.status = billcore_resource_field(from, bg_str(name, len), &value, &f.present, &f.err);
  return bg_raw_of(value, f);
}
static bg_field bg_list_count(const void* from, const char* name, size_t len) {
  bg_field f = {.present = true};
  size_t count = 0;
  f.status = billcore_resource_list_count(from, bg_str(name, len), &count, &f.err);
  f.number = (int64_t)count;
  return f;
}
static bg_field bg_list_at(const void* from, const char* name, size_t len, size_t index) {
  bg_field f = {.present = true};
  billcore_resource* made = NULL;
  f.status = billcore_resource_list_at(from, bg_str(name, len), index, &made, &f.err);
  f.made = made;
  return f;
}
static bg_field bg_integers_count(const void* from, const char* name, size_t len) {
  bg_field f = {.present = true};
  size_t count = 0;
  f.status = billcore_resource_integers_count(from, bg_str(name, len), &count, &f.err);
  f.number = (int64_t)count;
  return f;
}
static bg_field bg_integers(const void* from, const char* name, size_t len, int64_t* out, size_t count) {
  bg_field f = {.present = true};
  for (size_t i = 0; i < count && f.status == BILLCORE_OK; ++i)
    f.status = billcore_resource_integer_at(from, bg_str(name, len), i, &out[i], &f.err);
  return f;
}
static bg_field bg_raw(const void* from) {
  bg_field f = {.present = true};
  f.status = billcore_resource_raw(from, &f.text, &f.err);
  return f;
}
static bg_field bg_equal(const void* one, const void* other) {
  bg_field f = {.present = true};
  bool out = false;
  f.status = billcore_resource_equal(one, other, &out, &f.err);
  f.number = out;
  return f;
}
static bg_field bg_copy(const void* from) {
  bg_field f = {.present = true};
  billcore_resource* made = NULL;
  f.status = billcore_resource_copy(from, &made, &f.err);
  f.made = made;
  return f;
}

static bg_field bg_usable_at(const void* from, int64_t unix_micros) {
  bg_field f = {.present = true};
  bool out = false;
  f.status = billcore_subscription_usable_at(from, unix_micros, &out, &f.err);
  f.number = out;
  return f;
}

/* ---- pages: one call for a field of all items ---- */

/* The instants are INTEGER cells (microseconds); OTHER where the item must be asked for its error. */
static void bg_times(const billcore_page* page, const char* name, size_t len, billcore_cell* cells, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    billcore_resource* item = NULL;
    bool present = true;
    cells[i].kind = BILLCORE_CELL_OTHER;
    if (billcore_page_at(page, i, &item, NULL) == BILLCORE_OK &&
        billcore_resource_time(item, bg_str(name, len), NULL, &cells[i].number, &present, NULL) == BILLCORE_OK)
      cells[i].kind = present ? BILLCORE_CELL_INTEGER : BILLCORE_CELL_ABSENT;
    billcore_resource_free(item);
  }
}
static billcore_status bg_column(const billcore_page* page, const char* name, size_t len, billcore_cell* cells,
                                 size_t count) {
  return billcore_page_column(page, bg_str(name, len), cells, count, NULL);
}
static bg_made bg_item(const billcore_page* page, size_t index) {
  bg_made made = {NULL, NULL, BILLCORE_OK};
  billcore_resource* item = NULL;
  made.status = billcore_page_at(page, index, &item, &made.err);
  made.out = item;
  return made;
}

#endif
