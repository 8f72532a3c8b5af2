/** @file
 * Cancellation: a token with which any thread can end calls. Conventions: billcore.h.
 *
 * The caller sets a token in the options of a call (billcore_call_options_set_cancel). Once the token is triggered, a
 * running call returns at once with BILLCORE_ERROR_INTERRUPTED, and a later call sends nothing. A list whose token is
 * triggered returns BILLCORE_ERROR_INTERRUPTED instead of the page for which the list is waiting or which it would
 * fetch next. A call whose answer arrived before the trigger, or at the same moment, returns as usual.
 *
 * For a cancelled write, billcore_error_outcome_unknown says whether the write may have happened; if that function
 * returns false, no part of the write was sent. A hook (billcore/hooks.h) can read in billcore_attempt.outcome_unknown
 * whether a write may have happened.
 *
 * @code{.c}
 * billcore_cancel* cancel = NULL;
 * billcore_call_options* call = NULL;
 * billcore_order* order = NULL;
 * billcore_error* err = NULL;
 * billcore_status status = billcore_cancel_new(&cancel, &err); // any thread may billcore_cancel_trigger(cancel)
 * if (status == BILLCORE_OK) status = billcore_call_options_new(&call, &err);
 * if (status == BILLCORE_OK) status = billcore_call_options_set_cancel(call, cancel, &err);
 * if (status == BILLCORE_OK) status = billcore_order_get(client, order_id, call, &order, &err);
 * billcore_call_options_free(call), billcore_order_free(order), billcore_error_free(err);
 * billcore_cancel_free(cancel);
 * @endcode
 */
#ifndef BILLCORE_CANCEL_H
#define BILLCORE_CANCEL_H

#include "billcore/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A token that cancels any number of calls. Freed with billcore_cancel_free. Threads: shared. */
typedef struct billcore_cancel billcore_cancel;

/** Makes a token that is not triggered yet. The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_cancel_new(billcore_cancel** out, billcore_error** err);

/** Cancels all running and later calls whose options contain the token. A triggered token stays triggered. The function
 * does nothing when `cancel` is NULL. The function does not wait until the cancelled calls have returned. Do not call
 * this function in a signal handler: let a billcore_interrupt callback check a flag that the handler sets.
 * @since 0.1 */
BILLCORE_EXPORT void billcore_cancel_trigger(billcore_cancel* cancel);

/** Whether the token was triggered; false for NULL.  @since 0.1 */
BILLCORE_API bool billcore_cancel_is_triggered(const billcore_cancel* cancel);

/** Frees a token; accepts NULL. The caller may free a token that options and running calls still use; afterwards the
 * caller can no longer trigger the token.  @since 0.1 */
BILLCORE_EXPORT void billcore_cancel_free(billcore_cancel* cancel);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_CANCEL_H */
