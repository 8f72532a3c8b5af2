/** @file
 * Cancellation: ends calls from another thread. Conventions: billcore.h.
 *
 * A token is set in the options of calls (billcore_call_options_set_cancel). Once it is triggered, a call that waits
 * returns at once with BILLCORE_ERROR_INTERRUPTED, and a call that is made later sends nothing. A list ends with the page
 * it waits for, or with the next one it would fetch. A call whose answer came first, or at the same moment, returns as
 * usual.
 *
 * Of a write the error says what is known: billcore_error_outcome_unknown whether it may have happened. Where that is
 * false, nothing was sent. A hook (billcore/hooks.h) is told the same.
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

/** A token for any number of calls. Freed with billcore_cancel_free. Threads: shared. */
typedef struct billcore_cancel billcore_cancel;

/** Not triggered yet. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_cancel_new(billcore_cancel** out, billcore_error** err);

/** Ends the calls of the token, those that are running and those to come. It cannot be taken back; triggering again does
 * nothing, nor does NULL. Waits for nothing; not for signal handlers, where billcore_interrupt is the way.  @since 0.1 */
BILLCORE_EXPORT void billcore_cancel_trigger(billcore_cancel* cancel);

/** Whether it was triggered; false for NULL.  @since 0.1 */
BILLCORE_API bool billcore_cancel_is_triggered(const billcore_cancel* cancel);

/** Frees a token; accepts NULL. Options and calls that have it may live on: it can no longer be triggered.
 *  @since 0.1 */
BILLCORE_EXPORT void billcore_cancel_free(billcore_cancel* cancel);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_CANCEL_H */
