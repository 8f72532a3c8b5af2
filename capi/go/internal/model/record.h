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

/* Defines the wrapper NAME of one call of the library. The library writes `present` only for a name that ends in `?`; for
 * other names `present` keeps its initial value true. BG_FIELD_OF also declares `out`, to which the call writes the value
 * that `take` puts into f. */
#define BG_FIELD(name, parameters, call)   \
  static inline bg_field name parameters { \
    bg_field f = {.present = true};        \
    f.status = call;                       \
    return f;                              \
  }
#define BG_FIELD_OF(type, name, parameters, call, take) \
  static inline bg_field name parameters {              \
    bg_field f = {.present = true};                     \
    type out = 0;                                       \
    f.status = call;                                    \
    take;                                               \
    return f;                                           \
  }
#define BG_NAMED (uintptr_t from, const char* name, size_t len)
#define BG_NAME BG_RESOURCE(from), bg_str(name, len)

/* The text of a JSON value. The text is valid until the caller frees the field `made`. */
static inline bg_field bg_raw_of(billcore_value* value, bg_field f) {
  if (value != NULL && f.status == BILLCORE_OK) f.status = billcore_value_raw(value, &f.text, &f.err);
  f.made = value;
  return f;
}

BG_FIELD(bg_text, BG_NAMED, billcore_resource_text(BG_NAME, &f.text, &f.present, &f.err))
BG_FIELD(bg_number, BG_NAMED, billcore_resource_number(BG_NAME, &f.text, &f.present, &f.err))
BG_FIELD(bg_id, BG_NAMED, billcore_resource_id(BG_NAME, &f.text, NULL, &f.present, &f.err))
BG_FIELD(bg_int64, BG_NAMED, billcore_resource_int64(BG_NAME, &f.number, &f.present, &f.err))
BG_FIELD(bg_time, BG_NAMED, billcore_resource_time(BG_NAME, NULL, &f.number, &f.present, &f.err))
BG_FIELD(bg_raw, (uintptr_t from), billcore_resource_raw(BG_RESOURCE(from), &f.text, &f.err))
BG_FIELD_OF(bool, bg_bool, BG_NAMED, billcore_resource_bool(BG_NAME, &out, &f.present, &f.err), f.number = out)
BG_FIELD_OF(billcore_value*, bg_object, BG_NAMED, billcore_resource_object(BG_NAME, &out, &f.present, &f.err),
            f = bg_raw_of(out, f))
BG_FIELD_OF(billcore_value*, bg_any, BG_NAMED, billcore_resource_any(BG_NAME, &out, &f.present, &f.err),
            f = bg_raw_of(out, f))
BG_FIELD_OF(billcore_value*, bg_field_of, BG_NAMED, billcore_resource_field(BG_NAME, &out, &f.present, &f.err),
            f = bg_raw_of(out, f))
BG_FIELD_OF(size_t, bg_list_count, BG_NAMED, billcore_resource_list_count(BG_NAME, &out, &f.err),
            f.number = (int64_t)out)
BG_FIELD_OF(size_t, bg_integers_count, BG_NAMED, billcore_resource_integers_count(BG_NAME, &out, &f.err),
            f.number = (int64_t)out)
BG_FIELD_OF(billcore_resource*, bg_list_at, (uintptr_t from, const char* name, size_t len, size_t index),
            billcore_resource_list_at(BG_NAME, index, &out, &f.err), f.made = out)
BG_FIELD_OF(billcore_resource*, bg_copy, (uintptr_t from), billcore_resource_copy(BG_RESOURCE(from), &out, &f.err),
            f.made = out)
BG_FIELD_OF(bool, bg_equal, (uintptr_t one, uintptr_t other),
            billcore_resource_equal(BG_RESOURCE(one), BG_RESOURCE(other), &out, &f.err), f.number = out)
BG_FIELD_OF(bool, bg_usable_at, (uintptr_t from, int64_t unix_micros),
            billcore_subscription_usable_at((const billcore_subscription*)from, unix_micros, &out, &f.err),
            f.number = out)

/* The JSON text of the member `name` of the object at `path`. */
static inline bg_field bg_member(uintptr_t from, const char* path, size_t len, const char* name, size_t name_len) {
  bg_field f = {.present = true};
  billcore_value* object = NULL;
  billcore_value* value = NULL;
  f.status = billcore_resource_object(BG_RESOURCE(from), bg_str(path, len), &object, &f.present, &f.err);
  if (f.status == BILLCORE_OK)
    f.status = billcore_value_find(object, bg_str(name, name_len), &value, &f.present, &f.err);
  billcore_value_free(object);
  return bg_raw_of(value, f);
}
static inline bg_field bg_integers(uintptr_t from, const char* name, size_t len, int64_t* out, size_t count) {
  bg_field f = {.present = true};
  for (size_t i = 0; i < count && f.status == BILLCORE_OK; ++i)
    f.status = billcore_resource_integer_at(BG_NAME, i, &out[i], &f.err);
  return f;
}

#endif
