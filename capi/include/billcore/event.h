/** @file
 * Events of the service, as they arrive by webhook. Conventions: billcore.h.
 *
 * @code{.c}
 * billcore_event_kind kind = BILLCORE_EVENT_UNKNOWN;
 * billcore_order* order = NULL;
 * int64_t cents = 0;
 * billcore_error* err = NULL;
 * billcore_status status = billcore_event_type(event, &kind, &err);
 * if (status == BILLCORE_OK && kind == BILLCORE_EVENT_ORDER_PAID) {
 *   status = billcore_event_order(event, &order, &err);
 *   if (status == BILLCORE_OK) status = billcore_order_total(order, &cents, &err);
 *   if (status == BILLCORE_OK) printf("paid: %" PRId64 " cents\n", cents);
 * }
 * billcore_order_free(order);
 * billcore_error_free(err);
 * @endcode
 */
#ifndef BILLCORE_EVENT_H
#define BILLCORE_EVENT_H

#include "billcore/order.h"
#include "billcore/product.h"
#include "billcore/product_group.h"
#include "billcore/subscription.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An event, from a body whose signature was right (billcore/webhook.h; billcore_webhook_parse_unverified is the one
 * that does not look). Freed with billcore_event_free, never as a resource. Texts live as long as it.
 * Threads: immutable. Service interface: Events, Envelope. */
typedef struct billcore_event billcore_event;

/** The event names; UNKNOWN is any other, which is ordinary. Append-only. Service interface: Events, Catalog. */
typedef int32_t billcore_event_kind;
/** Values of a billcore_event_kind. */
enum {
  BILLCORE_EVENT_UNKNOWN = 0,
  BILLCORE_EVENT_SUBSCRIPTION_CREATED = 1,
  BILLCORE_EVENT_SUBSCRIPTION_UPDATED = 2,
  BILLCORE_EVENT_SUBSCRIPTION_RENEWED = 3,
  BILLCORE_EVENT_SUBSCRIPTION_CANCELLED = 4,
  BILLCORE_EVENT_ORDER_CONFIRMED = 5,
  BILLCORE_EVENT_ORDER_PAID = 6,
  BILLCORE_EVENT_PRODUCT_UPDATED = 7,
  BILLCORE_EVENT_PRODUCT_DELETED = 8,
  BILLCORE_EVENT_PRODUCT_GROUP_UPDATED = 9,
  BILLCORE_EVENT_PRODUCT_GROUP_DELETED = 10,
  BILLCORE_EVENT_TEST_HOOK = 11
};

/** What `data` of an event is. Append-only. */
typedef int32_t billcore_data_kind;
/** Values of a billcore_data_kind. */
enum {
  BILLCORE_DATA_NONE = 0, /**< null or absent */
  BILLCORE_DATA_SUBSCRIPTION = 1,
  BILLCORE_DATA_ORDER = 2,
  BILLCORE_DATA_PRODUCT = 3,
  BILLCORE_DATA_PRODUCT_GROUP = 4,
  BILLCORE_DATA_RESOURCE = 5, /**< an object of test.hook or of an unknown event */
  BILLCORE_DATA_VALUE = 6     /**< any other JSON */
};

/** Delivery id, the key to drop duplicates with (not for test.hook, whose id is 0); opaque: compare with
 * billcore_same_id. is_integer may be NULL: whether it came as a JSON integer.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_event_id(const billcore_event* event, billcore_str* text, bool* is_integer,
                                                  billcore_error** err) {
  return billcore_resource_id(BILLCORE_CAST(const billcore_resource*, event), BILLCORE_STR("id"), text, is_integer,
                              NULL, err);
}

/** Name as received, such as "order.paid".  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_event_name(const billcore_event* event, billcore_str* out,
                                                    billcore_error** err) {
  return billcore_resource_text(BILLCORE_CAST(const billcore_resource*, event), BILLCORE_STR("name"), out, NULL, err);
}

/** One of BILLCORE_EVENT_*.  @since 0.1 */
BILLCORE_API billcore_status billcore_event_type(const billcore_event* event, billcore_event_kind* out,
                                                 billcore_error** err);

/** Integer id of the account; not the UUID of the base URL, never compare the two.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_event_account(const billcore_event* event, int64_t* out,
                                                       billcore_error** err) {
  return billcore_resource_int64(BILLCORE_CAST(const billcore_resource*, event), BILLCORE_STR("account"), out, NULL,
                                 err);
}

/** When the event was generated; text and unix_micros may be NULL.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_event_created_at(const billcore_event* event, billcore_str* text,
                                                          int64_t* unix_micros, billcore_error** err) {
  return billcore_resource_time(BILLCORE_CAST(const billcore_resource*, event), BILLCORE_STR("created_at"), text,
                                unix_micros, NULL, err);
}

/** One of BILLCORE_DATA_*: which of the functions below gives the data.  @since 0.1 */
BILLCORE_API billcore_status billcore_event_data_kind(const billcore_event* event, billcore_data_kind* out,
                                                      billcore_error** err);

/** The data as plain JSON, of whatever kind; not present when null or absent. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_event_data(const billcore_event* event, billcore_value** out, bool* present,
                                                 billcore_error** err);

/** The data as a resource of this kind, BILLCORE_DATA_SUBSCRIPTION to BILLCORE_DATA_RESOURCE; BILLCORE_ERROR_DECODE
 * when it is anything else. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_event_resource(const billcore_event* event, billcore_data_kind kind,
                                                     billcore_resource** out, billcore_error** err);

/** The data of a subscription event; BILLCORE_ERROR_DECODE when it is anything else. New; free it.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_event_subscription(const billcore_event* event, billcore_subscription** out,
                                                            billcore_error** err) {
  billcore_resource* made = NULL;
  const billcore_status status =
      billcore_event_resource(event, BILLCORE_DATA_SUBSCRIPTION, out == NULL ? NULL : &made, err);
  if (out != NULL) *out = BILLCORE_CAST(billcore_subscription*, made);
  return status;
}

/** The data of an order event; BILLCORE_ERROR_DECODE when it is anything else. New; free it.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_event_order(const billcore_event* event, billcore_order** out,
                                                     billcore_error** err) {
  billcore_resource* made = NULL;
  const billcore_status status = billcore_event_resource(event, BILLCORE_DATA_ORDER, out == NULL ? NULL : &made, err);
  if (out != NULL) *out = BILLCORE_CAST(billcore_order*, made);
  return status;
}

/** The data of a product event; BILLCORE_ERROR_DECODE when it is anything else. New; free it.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_event_product(const billcore_event* event, billcore_product** out,
                                                       billcore_error** err) {
  billcore_resource* made = NULL;
  const billcore_status status = billcore_event_resource(event, BILLCORE_DATA_PRODUCT, out == NULL ? NULL : &made, err);
  if (out != NULL) *out = BILLCORE_CAST(billcore_product*, made);
  return status;
}

/** The data of a product group event; BILLCORE_ERROR_DECODE when it is anything else. New; free it.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_event_product_group(const billcore_event* event, billcore_product_group** out,
                                                             billcore_error** err) {
  billcore_resource* made = NULL;
  const billcore_status status =
      billcore_event_resource(event, BILLCORE_DATA_PRODUCT_GROUP, out == NULL ? NULL : &made, err);
  if (out != NULL) *out = BILLCORE_CAST(billcore_product_group*, made);
  return status;
}

/** The body as received.  @since 0.1 */
BILLCORE_API billcore_status billcore_event_raw(const billcore_event* event, billcore_str* out, billcore_error** err);

/** The whole envelope as plain JSON. New; free it.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_event_value(const billcore_event* event, billcore_value** out,
                                                     billcore_error** err) {
  return billcore_resource_value(BILLCORE_CAST(const billcore_resource*, event), out, err);
}

/** Frees an event; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_event_free(billcore_event* event);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_EVENT_H */
