/* Wrappers of the C getters of resources, for cgo; each wrapper returns a struct. */
#ifndef BILLCORE_GO_RECORD_H
#define BILLCORE_GO_RECORD_H

#include <billcore/subscription.h>

#include "native.h"

/* Handles are passed as numbers: cgo searches pointer arguments for pointers to Go memory, which takes time. */
#define BG_RESOURCE(number) ((const billcore_resource*)(number))

typedef struct bg_field {
  billcore_str text;
  int64_t number;
  billcore_error* err;
  void* made;
  billcore_status status;
  bool present;
} bg_field;

/* The library writes `present` only for a name that ends in `?`; for other names `present` keeps its initial value
 * true. */
static bg_field bg_text(uintptr_t from, const char* name, size_t len) {
  bg_field f = {.present = true};
  f.status = billcore_resource_text(BG_RESOURCE(from), bg_str(name, len), &f.text, &f.present, &f.err);
  return f;
}
static bg_field bg_number(uintptr_t from, const char* name, size_t len) {
  bg_field f = {.present = true};
  f.status = billcore_resource_number(BG_RESOURCE(from), bg_str(name, len), &f.text, &f.present, &f.err);
  return f;
}
static bg_field bg_id(uintptr_t from, const char* name, size_t len) {
  bg_field f = {.present = true};
  f.status = billcore_resource_id(BG_RESOURCE(from), bg_str(name, len), &f.text, NULL, &f.present, &f.err);
  return f;
}
static bg_field bg_int64(uintptr_t from, const char* name, size_t len) {
  bg_field f = {.present = true};
  f.status = billcore_resource_int64(BG_RESOURCE(from), bg_str(name, len), &f.number, &f.present, &f.err);
  return f;
}
static bg_field bg_bool(uintptr_t from, const char* name, size_t len) {
  bg_field f = {.present = true};
  bool out = false;
  f.status = billcore_resource_bool(BG_RESOURCE(from), bg_str(name, len), &out, &f.present, &f.err);
  f.number = out;
  return f;
}
static bg_field bg_time(uintptr_t from, const char* name, size_t len) {
  bg_field f = {.present = true};
  f.status = billcore_resource_time(BG_RESOURCE(from), bg_str(name, len), NULL, &f.number, &f.present, &f.err);
  return f;
}
/* The text of a JSON value. The text is valid until the caller frees the field `made`. */
static bg_field bg_raw_of(billcore_value* value, bg_field f) {
  if (value != NULL && f.status == BILLCORE_OK) f.status = billcore_value_raw(value, &f.text, &f.err);
  f.made = value;
  return f;
}
static bg_field bg_object(uintptr_t from, const char* name, size_t len) {
  bg_field f = {.present = true};
  billcore_value* value = NULL;
  f.status = billcore_resource_object(BG_RESOURCE(from), bg_str(name, len), &value, &f.present, &f.err);
  return bg_raw_of(value, f);
}
static bg_field bg_any(uintptr_t from, const char* name, size_t len) {
  bg_field f = {.present = true};
  billcore_value* value = NULL;
  f.status = billcore_resource_any(BG_RESOURCE(from), bg_str(name, len), &value, &f.present, &f.err);
  return bg_raw_of(value, f);
}
static bg_field bg_field_of(uintptr_t from, const char* name, size_t len) {
  bg_field f = {.present = true};
  billcore_value* value = NULL;
  f.status = billcore_resource_field(BG_RESOURCE(from), bg_str(name, len), &value, &f.present, &f.err);
  return bg_raw_of(value, f);
}
/* The JSON text of the member `name` of the object at `path`. */
static bg_field bg_member(uintptr_t from, const char* path, size_t len, const char* name, size_t name_len) {
  bg_field f = {.present = true};
  billcore_value* object = NULL;
  billcore_value* value = NULL;
  f.status = billcore_resource_object(BG_RESOURCE(from), bg_str(path, len), &object, &f.present, &f.err);
  if (f.status == BILLCORE_OK)
    f.status = billcore_value_find(object, bg_str(name, name_len), &value, &f.present, &f.err);
  billcore_value_free(object);
  return bg_raw_of(value, f);
}
static bg_field bg_list_count(uintptr_t from, const char* name, size_t len) {
  bg_field f = {.present = true};
  size_t count = 0;
  f.status = billcore_resource_list_count(BG_RESOURCE(from), bg_str(name, len), &count, &f.err);
  f.number = (int64_t)count;
  return f;
}
static bg_field bg_list_at(uintptr_t from, const char* name, size_t len, size_t index) {
  bg_field f = {.present = true};
  billcore_resource* made = NULL;
  f.status = billcore_resource_list_at(BG_RESOURCE(from), bg_str(name, len), index, &made, &f.err);
  f.made = made;
  return f;
}
static bg_field bg_integers_count(uintptr_t from, const char* name, size_t len) {
  bg_field f = {.present = true};
  size_t count = 0;
  f.status = billcore_resource_integers_count(BG_RESOURCE(from), bg_str(name, len), &count, &f.err);
  f.number = (int64_t)count;
  return f;
}
static bg_field bg_integers(uintptr_t from, const char* name, size_t len, int64_t* out, size_t count) {
  bg_field f = {.present = true};
  for (size_t i = 0; i < count && f.status == BILLCORE_OK; ++i)
    f.status = billcore_resource_integer_at(BG_RESOURCE(from), bg_str(name, len), i, &out[i], &f.err);
  return f;
}
static bg_field bg_raw(uintptr_t from) {
  bg_field f = {.present = true};
  f.status = billcore_resource_raw(BG_RESOURCE(from), &f.text, &f.err);
  return f;
}
static bg_field bg_equal(uintptr_t one, uintptr_t other) {
  bg_field f = {.present = true};
  bool out = false;
  f.status = billcore_resource_equal(BG_RESOURCE(one), BG_RESOURCE(other), &out, &f.err);
  f.number = out;
  return f;
}
static bg_field bg_copy(uintptr_t from) {
  bg_field f = {.present = true};
  billcore_resource* made = NULL;
  f.status = billcore_resource_copy(BG_RESOURCE(from), &made, &f.err);
  f.made = made;
  return f;
}

static bg_field bg_usable_at(uintptr_t from, int64_t unix_micros) {
  bg_field f = {.present = true};
  bool out = false;
  f.status = billcore_subscription_usable_at((const billcore_subscription*)from, unix_micros, &out, &f.err);
  f.number = out;
  return f;
}

#endif
