/* Orders. Conventions: billcore.h; what all resources share: billcore/resource.h. */
#ifndef BILLCORE_ORDER_H
#define BILLCORE_ORDER_H

#include "billcore/resource.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An order. Freed with billcore_order_free. Texts live as long as it. Threads: immutable. Service interface: Order. */
typedef struct billcore_order billcore_order;

/** Its opaque id: the text, and whether it came as a JSON integer (is_integer may be NULL). Service interface: Order.
 *  @since 0.1 */
BILLCORE_API billcore_status billcore_order_id(const billcore_order* order, billcore_str* text, bool* is_integer,
                                               billcore_error** err);

/** When it was created; text and unix_micros may be NULL. Service interface: Order.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_created_at(const billcore_order* order, billcore_str* text,
                                                       int64_t* unix_micros, billcore_error** err);

/** Subtotal in cents, without VAT. Service interface: Order.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_total(const billcore_order* order, int64_t* out, billcore_error** err);

/** Total in cents, with VAT. Service interface: Order.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_total_with_vat(const billcore_order* order, int64_t* out,
                                                           billcore_error** err);

/** Currency code. Service interface: Order.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_currency(const billcore_order* order, billcore_str* out,
                                                     billcore_error** err);

/** The correlation value the client stored. Service interface: Order.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_reference_id(const billcore_order* order, billcore_str* out, bool* present,
                                                         billcore_error** err);

/** The name stored beside reference_id. Service interface: Order.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_reference_name(const billcore_order* order, billcore_str* out,
                                                           bool* present, billcore_error** err);

/** created, confirmed, payment_pending_user, payment_pending, payment_failed, payment_cancelled, payment_refunded,
 *  paid, or a value added since. Service interface: Order.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_state(const billcore_order* order, billcore_str* out, billcore_error** err);

/** The billing method's identifier of the payment. Service interface: Order.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_remote_id(const billcore_order* order, billcore_str* out, bool* present,
                                                      billcore_error** err);

/** `link` of its delivery; present is false when there is no delivery. Service interface: Order.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_delivery_link(const billcore_order* order, billcore_str* out, bool* present,
                                                          billcore_error** err);

/** Number of its custom fields. Service interface: Order.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_custom_fields(const billcore_order* order, size_t* count,
                                                          billcore_error** err);

/** Custom field `index`, from 0; BILLCORE_INVALID_ARGUMENT beyond the last. New; free it. Service interface: Order.
 *  @since 0.1 */
BILLCORE_API billcore_status billcore_order_custom_field_at(const billcore_order* order, size_t index,
                                                            billcore_custom_field** out, billcore_error** err);

/** Free-form object. New; free it. Service interface: Order.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_metadata(const billcore_order* order, billcore_value** out,
                                                     billcore_error** err);

/** The JSON text as received, a slice.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_raw(const billcore_order* order, billcore_str* out, billcore_error** err);

/** The whole as plain JSON, to read or iterate. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_value(const billcore_order* order, billcore_value** out,
                                                  billcore_error** err);

/** Any field by its name, also one this library does not know. *present is true also when it is null; without it *out
 *  is NULL. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_field(const billcore_order* order, billcore_str name, billcore_value** out,
                                                  bool* present, billcore_error** err);

/** Is there a field of this name, null or not?  @since 0.1 */
BILLCORE_API billcore_status billcore_order_contains(const billcore_order* order, billcore_str name, bool* out,
                                                     billcore_error** err);

/** The same JSON?  @since 0.1 */
BILLCORE_API billcore_status billcore_order_equal(const billcore_order* order, const billcore_order* other, bool* out,
                                                  billcore_error** err);

/** The answer it came with; not present for a part of an event. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_response_info(const billcore_order* order, billcore_response_info** out,
                                                          bool* present, billcore_error** err);

/** A detached copy, which keeps only its own text alive. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_order_copy(const billcore_order* order, billcore_order** out,
                                                 billcore_error** err);

/** Frees a order; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_order_free(billcore_order* order);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_ORDER_H */
