/* Subscriptions. Conventions: billcore.h; what all resources share: billcore/resource.h. */
#ifndef BILLCORE_SUBSCRIPTION_H
#define BILLCORE_SUBSCRIPTION_H

#include "billcore/resource.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A subscription. Freed with billcore_subscription_free. Texts live as long as it. Threads: immutable.
 *  Service interface: Subscription. */
typedef struct billcore_subscription billcore_subscription;

/** Its opaque id: the text, and whether it came as a JSON integer (is_integer may be NULL). Service interface:
 *  Subscription.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_id(const billcore_subscription* subscription, billcore_str* text,
                                                      bool* is_integer, billcore_error** err);

/** Amount in cents. Service interface: Subscription.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_price(const billcore_subscription* subscription, int64_t* out,
                                                         billcore_error** err);

/** VAT in basis points (2500 = 25 %). Service interface: Subscription.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_vat(const billcore_subscription* subscription, int64_t* out,
                                                       billcore_error** err);

/** Currency code. Service interface: Subscription.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_currency(const billcore_subscription* subscription,
                                                            billcore_str* out, billcore_error** err);

/** When it was created; text and unix_micros may be NULL. Service interface: Subscription.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_created_at(const billcore_subscription* subscription,
                                                              billcore_str* text, int64_t* unix_micros,
                                                              billcore_error** err);

/** When it renews; text and unix_micros may be NULL. Service interface: Subscription.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_renews_at(const billcore_subscription* subscription,
                                                             billcore_str* text, int64_t* unix_micros, bool* present,
                                                             billcore_error** err);

/** End of the current paid period once cancelled; text and unix_micros may be NULL. Service interface: Subscription.
 *  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_ends_at(const billcore_subscription* subscription,
                                                           billcore_str* text, int64_t* unix_micros, bool* present,
                                                           billcore_error** err);

/** End of the trial period; text and unix_micros may be NULL. Service interface: Subscription.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_trial_ends_at(const billcore_subscription* subscription,
                                                                 billcore_str* text, int64_t* unix_micros,
                                                                 bool* present, billcore_error** err);

/** The correlation value the client stored when it was made. Service interface: Subscription.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_reference_id(const billcore_subscription* subscription,
                                                                billcore_str* out, bool* present, billcore_error** err);

/** The name stored beside reference_id. Service interface: Subscription.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_reference_name(const billcore_subscription* subscription,
                                                                  billcore_str* out, bool* present,
                                                                  billcore_error** err);

/** pending, future_start, trialing, active, delayed, unpaid, cancelled, expired, or a value added since. Service
 *  interface: Subscription.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_status(const billcore_subscription* subscription, billcore_str* out,
                                                          billcore_error** err);

/** Signed billing-portal URL: who has it can act for the customer, do not log it. Service interface: Subscription.
 *  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_update_card_url(const billcore_subscription* subscription,
                                                                   billcore_str* out, billcore_error** err);

/** Signed billing-portal URL: do not log it. Service interface: Subscription.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_invoices_url(const billcore_subscription* subscription,
                                                                billcore_str* out, billcore_error** err);

/** Signed billing-portal URL: do not log it. Service interface: Subscription.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_cancel_url(const billcore_subscription* subscription,
                                                              billcore_str* out, billcore_error** err);

/** Number of its custom fields. Service interface: Subscription.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_custom_fields(const billcore_subscription* subscription,
                                                                 size_t* count, billcore_error** err);

/** Custom field `index`, from 0; BILLCORE_INVALID_ARGUMENT beyond the last. New; free it. Service interface:
 *  Subscription.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_custom_field_at(const billcore_subscription* subscription,
                                                                   size_t index, billcore_custom_field** out,
                                                                   billcore_error** err);

/** Free-form object. New; free it. Service interface: Subscription.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_metadata(const billcore_subscription* subscription,
                                                            billcore_value** out, billcore_error** err);

/** Is it still paid for at this instant (UTC microseconds)? False for pending, future_start, unpaid and expired. The
 *  others are usable until ends_at; null means no end, and that a cancelled one is not usable.
 *  BILLCORE_ERROR_MISSING_FIELD where ends_at is needed and absent: a reduced payload cannot tell, get the subscription
 *  by its id. BILLCORE_DECODE for a status this library does not know. Service interface: States and transitions.
 *  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_usable_at(const billcore_subscription* subscription,
                                                             int64_t unix_micros, bool* out, billcore_error** err);

/** The JSON text as received, a slice.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_raw(const billcore_subscription* subscription, billcore_str* out,
                                                       billcore_error** err);

/** The whole as plain JSON, to read or iterate. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_value(const billcore_subscription* subscription,
                                                         billcore_value** out, billcore_error** err);

/** Any field by its name, also one this library does not know. *present is true also when it is null; without it *out
 *  is NULL. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_field(const billcore_subscription* subscription, billcore_str name,
                                                         billcore_value** out, bool* present, billcore_error** err);

/** Is there a field of this name, null or not?  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_contains(const billcore_subscription* subscription,
                                                            billcore_str name, bool* out, billcore_error** err);

/** The same JSON?  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_equal(const billcore_subscription* subscription,
                                                         const billcore_subscription* other, bool* out,
                                                         billcore_error** err);

/** The answer it came with; not present for a part of an event. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_response_info(const billcore_subscription* subscription,
                                                                 billcore_response_info** out, bool* present,
                                                                 billcore_error** err);

/** A detached copy, which keeps only its own text alive. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_copy(const billcore_subscription* subscription,
                                                        billcore_subscription** out, billcore_error** err);

/** Frees a subscription; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_subscription_free(billcore_subscription* subscription);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_SUBSCRIPTION_H */
