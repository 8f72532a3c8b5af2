/** @file
 * Resources: the functions that subscriptions, orders, products and their parts share. Conventions: billcore.h.
 *
 * A resource is a read-only view of a JSON object in a received document. A resource keeps its document in memory, so
 * an item of a list keeps its whole page in memory; billcore_order_copy and related functions make a copy that keeps
 * only the item's own JSON text.
 *
 * Each kind of resource has a type and inline functions of its own, such as billcore_order and billcore_order_total in
 * billcore/order.h. The inline functions call the functions of this header, which read a field by its name. Bindings
 * for other languages may call the functions of this header directly. In `name`, `?` marks a field that may be null or
 * absent, and slashes separate nested fields, as in "total", "reference_id?", "/strings/price?" and "/delivery?/link".
 * A name without `?` means that the field is required: if the field is absent, the getter returns
 * BILLCORE_ERROR_MISSING_FIELD; if it is null, BILLCORE_ERROR_DECODE. If the name has a `?`, `present` must not be
 * NULL. A value of the wrong type gives BILLCORE_ERROR_DECODE. The error of a getter contains the field's path.
 *
 * @code{.c}
 * billcore_str reference;
 * bool present = false;
 * billcore_value* extra = NULL;
 * billcore_error* err = NULL;
 * billcore_status status = billcore_order_reference_id(order, &reference, &present, &err);
 * if (status == BILLCORE_OK && present) printf("your reference: %s\n", reference.data);
 * if (status == BILLCORE_OK) status = billcore_order_field(order, BILLCORE_STR("newer"), &extra, &present, &err);
 * if (status == BILLCORE_OK && present) puts("the service sends a field that this library has no function for");
 * billcore_value_free(extra);
 * billcore_error_free(err);
 * @endcode
 */
#ifndef BILLCORE_RESOURCE_H
#define BILLCORE_RESOURCE_H

#include "billcore/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A resource of any kind. Freed with billcore_resource_free. A text read from a handle is valid until the handle is
 * freed. Threads: immutable. */
typedef struct billcore_resource billcore_resource;

/** Frees a resource; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_resource_free(billcore_resource* resource);

/** A text field. In each function that reads one field, `present` may be NULL if `name` has no `?`.  @since 0.1 */
BILLCORE_API billcore_status billcore_resource_text(const billcore_resource* resource, billcore_str name,
                                                    billcore_str* out, bool* present, billcore_error** err);

/** An integer field; BILLCORE_ERROR_OUT_OF_RANGE when the number does not fit into an int64_t.  @since 0.1 */
BILLCORE_API billcore_status billcore_resource_int64(const billcore_resource* resource, billcore_str name, int64_t* out,
                                                     bool* present, billcore_error** err);

/** A boolean field.  @since 0.1 */
BILLCORE_API billcore_status billcore_resource_bool(const billcore_resource* resource, billcore_str name, bool* out,
                                                    bool* present, billcore_error** err);

/** A date-time: the text as received, and microseconds since 1970 in UTC. `text` and `unix_micros` may be NULL.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_resource_time(const billcore_resource* resource, billcore_str name,
                                                    billcore_str* text, int64_t* unix_micros, bool* present,
                                                    billcore_error** err);

/** A number field: the digits as received, such as "12.50".  @since 0.1 */
BILLCORE_API billcore_status billcore_resource_number(const billcore_resource* resource, billcore_str name,
                                                      billcore_str* out, bool* present, billcore_error** err);

/** An opaque id: its text, and whether the service sent it as a JSON integer. is_integer may be NULL.  @since 0.1 */
BILLCORE_API billcore_status billcore_resource_id(const billcore_resource* resource, billcore_str name,
                                                  billcore_str* text, bool* is_integer, bool* present,
                                                  billcore_error** err);

/** A field whose value is a JSON object. The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_resource_object(const billcore_resource* resource, billcore_str name,
                                                      billcore_value** out, bool* present, billcore_error** err);

/** A field whose value may be any JSON value, including null; if `name` ends in `?`, a null field counts as absent.
 * The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_resource_any(const billcore_resource* resource, billcore_str name,
                                                   billcore_value** out, bool* present, billcore_error** err);

/** Number of resources in a field that holds an array of objects.  @since 0.1 */
BILLCORE_API billcore_status billcore_resource_list_count(const billcore_resource* resource, billcore_str name,
                                                          size_t* out, billcore_error** err);

/** Resource `index`, from 0, of a field that holds an array of objects; BILLCORE_ERROR_INVALID_ARGUMENT beyond the
 * last resource. The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_resource_list_at(const billcore_resource* resource, billcore_str name,
                                                       size_t index, billcore_resource** out, billcore_error** err);

/** Number of integers in a field that holds an array of integers.  @since 0.1 */
BILLCORE_API billcore_status billcore_resource_integers_count(const billcore_resource* resource, billcore_str name,
                                                              size_t* out, billcore_error** err);

/** Integer `index`, from 0, of a field that holds an array of integers; BILLCORE_ERROR_INVALID_ARGUMENT beyond the
 * last integer.  @since 0.1 */
BILLCORE_API billcore_status billcore_resource_integer_at(const billcore_resource* resource, billcore_str name,
                                                          size_t index, int64_t* out, billcore_error** err);

/** The resource's JSON text as received, without a NUL after it.  @since 0.1 */
BILLCORE_API billcore_status billcore_resource_raw(const billcore_resource* resource, billcore_str* out,
                                                   billcore_error** err);

/** The whole resource as a JSON value, to read or iterate. The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_resource_value(const billcore_resource* resource, billcore_value** out,
                                                     billcore_error** err);

/** The field with exactly this name, even one that this library does not know. *present is true even when the field is
 * null; *out is NULL when the resource has no such field. The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_resource_field(const billcore_resource* resource, billcore_str name,
                                                     billcore_value** out, bool* present, billcore_error** err);

/** Whether the resource has a field with exactly this name; the field may be null.  @since 0.1 */
BILLCORE_API billcore_status billcore_resource_contains(const billcore_resource* resource, billcore_str name, bool* out,
                                                        billcore_error** err);

/** Whether the two resources are equal as JSON.  @since 0.1 */
BILLCORE_API billcore_status billcore_resource_equal(const billcore_resource* resource, const billcore_resource* other,
                                                     bool* out, billcore_error** err);

/** A copy that keeps only its own JSON text in memory, not the whole document. The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_resource_copy(const billcore_resource* resource, billcore_resource** out,
                                                    billcore_error** err);

/** Status and header fields of the answer that contained a result, and the number of attempts of the request. Freed
 * with billcore_response_info_free. A text read from a handle is valid until the handle is freed. Threads:
 * immutable. */
typedef struct billcore_response_info billcore_response_info;

/** Information about the answer that contained the resource. *present is false for the data of an event. The caller
 * frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_resource_response_info(const billcore_resource* resource,
                                                             billcore_response_info** out, bool* present,
                                                             billcore_error** err);

/** Frees a response info; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_response_info_free(billcore_response_info* info);

/** HTTP status of the answer.  @since 0.1 */
BILLCORE_API billcore_status billcore_response_info_status(const billcore_response_info* info, int32_t* out,
                                                           billcore_error** err);

/** How many times the client tried the request.  @since 0.1 */
BILLCORE_API billcore_status billcore_response_info_attempts(const billcore_response_info* info, int32_t* out,
                                                             billcore_error** err);

/** True when the request was a write that may have been sent after its deadline, because the process or the machine
 * was stopped while the library sent it.  @since 0.1 */
BILLCORE_API billcore_status billcore_response_info_sent_late(const billcore_response_info* info, bool* out,
                                                              billcore_error** err);

/** Value of the answer's request id header; empty when the answer has none.  @since 0.1 */
BILLCORE_API billcore_status billcore_response_info_request_id(const billcore_response_info* info, billcore_str* out,
                                                               billcore_error** err);

/** Number of header fields.  @since 0.1 */
BILLCORE_API billcore_status billcore_response_info_header_count(const billcore_response_info* info, size_t* count,
                                                                 billcore_error** err);

/** Header field `index`, from 0, in the order in which the fields were received. Names are in lower case.  @since 0.1
 */
BILLCORE_API billcore_status billcore_response_info_header_at(const billcore_response_info* info, size_t index,
                                                              billcore_str* name, billcore_str* value,
                                                              billcore_error** err);

/** Value of the first header field with this name; the case of the name does not matter.  @since 0.1 */
BILLCORE_API billcore_status billcore_response_info_header(const billcore_response_info* info, billcore_str name,
                                                           billcore_str* out, bool* present, billcore_error** err);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_RESOURCE_H */
