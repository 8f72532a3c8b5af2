/** @file
 * Read-only views of JSON as received. Conventions: billcore.h.
 *
 * @code{.c}
 * billcore_value_iterator* each = NULL;
 * billcore_value* member = NULL;
 * billcore_str name, json;
 * billcore_error* err = NULL;
 * billcore_status status = billcore_value_iterator_new(value, &each, &err);
 * while (status == BILLCORE_OK && (status = billcore_value_iterator_next(each, &name, &member, &err)) == BILLCORE_OK) {
 *   status = billcore_value_raw(member, &json, &err);
 *   if (status == BILLCORE_OK) printf("%s is %.*s\n", name.data, (int)json.len, json.data);
 *   billcore_value_free(member);
 * }
 * billcore_value_iterator_free(each);
 * billcore_error_free(err);
 * @endcode
 */
#ifndef BILLCORE_JSON_H
#define BILLCORE_JSON_H

#include "billcore/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A JSON value of any kind. The value is a view into a JSON document, and keeps the document in memory. Freed with
 * billcore_value_free. A getter for a kind that the value does not have gives BILLCORE_ERROR_DECODE with the value's
 * path. Threads: immutable. */
typedef struct billcore_value billcore_value;

/** Kinds of JSON values. A number with a fraction or an exponent has the kind REAL. Append-only. */
typedef int32_t billcore_kind;
/** Values of a billcore_kind. */
enum {
  BILLCORE_KIND_NULL = 0,
  BILLCORE_KIND_BOOLEAN = 1,
  BILLCORE_KIND_INTEGER = 2,
  BILLCORE_KIND_REAL = 3,
  BILLCORE_KIND_STRING = 4,
  BILLCORE_KIND_ARRAY = 5,
  BILLCORE_KIND_OBJECT = 6
};

/** Frees a value; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_value_free(billcore_value* value);

/** Kind of the value: one of BILLCORE_KIND_*.  @since 0.1 */
BILLCORE_API billcore_status billcore_value_kind(const billcore_value* value, billcore_kind* out, billcore_error** err);

/** The value of a boolean.  @since 0.1 */
BILLCORE_API billcore_status billcore_value_boolean(const billcore_value* value, bool* out, billcore_error** err);

/** The value of an integer; BILLCORE_ERROR_OUT_OF_RANGE when the integer does not fit in int64_t (billcore_value_raw
 * returns its digits).  @since 0.1 */
BILLCORE_API billcore_status billcore_value_integer(const billcore_value* value, int64_t* out, billcore_error** err);

/** The value of any number, rounded to a double.  @since 0.1 */
BILLCORE_API billcore_status billcore_value_real(const billcore_value* value, double* out, billcore_error** err);

/** The text of a string, unescaped, as UTF-8; it may contain NULs. The text is borrowed from the value.  @since 0.1 */
BILLCORE_API billcore_status billcore_value_text(const billcore_value* value, billcore_str* out, billcore_error** err);

/** The value's JSON text exactly as received, without a NUL after it. The text is borrowed from the value.  @since 0.1
 */
BILLCORE_API billcore_status billcore_value_raw(const billcore_value* value, billcore_str* out, billcore_error** err);

/** Path of the value in its document, such as `data.images[0]`; empty for the whole document. The caller frees *out.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_value_path(const billcore_value* value, billcore_buf* out, billcore_error** err);

/** Number of items of an array, or of members of an object; 0 for a value of another kind.  @since 0.1 */
BILLCORE_API billcore_status billcore_value_count(const billcore_value* value, size_t* out, billcore_error** err);

/** Item number `index` of an array, from 0; BILLCORE_ERROR_INVALID_ARGUMENT beyond the last item. The caller frees
 * *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_value_at(const billcore_value* value, size_t index, billcore_value** out,
                                               billcore_error** err);

/** The object's member with this name; the last one if several members have the name. *present is true even when the
 * member is null. *out is NULL when the object has no member with this name, and when the value is not an object. The
 * caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_value_find(const billcore_value* value, billcore_str name, billcore_value** out,
                                                 bool* present, billcore_error** err);

/** Whether two values are equal as JSON. The order of an object's members does not matter; 1 and 1.0 differ.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_value_equal(const billcore_value* value, const billcore_value* other, bool* out,
                                                  billcore_error** err);

/** A second handle to the same value, made without copying the JSON. The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_value_copy(const billcore_value* value, billcore_value** out,
                                                 billcore_error** err);

/** An iteration over the items of an array or the members of an object, in the order received. Freed with
 *  billcore_value_iterator_free. Threads: one thread at a time. */
typedef struct billcore_value_iterator billcore_value_iterator;

/** Begins an iteration over an array or object; a value of another kind has no items. The caller frees *out, and may
 * free the value before the iterator.  @since 0.1 */
BILLCORE_API billcore_status billcore_value_iterator_new(const billcore_value* value, billcore_value_iterator** out,
                                                         billcore_error** err);

/** The next item or member; BILLCORE_DONE after the last. *name (name may be NULL) is the member's name, borrowed
 * from the iterator, or empty for an item of an array. The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_value_iterator_next(billcore_value_iterator* iterator, billcore_str* name,
                                                          billcore_value** out, billcore_error** err);

/** Frees an iterator; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_value_iterator_free(billcore_value_iterator* iterator);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_JSON_H */
