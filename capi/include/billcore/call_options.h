/** @file
 * Options of a single call, which replace the client's options. See billcore.h for the conventions, and
 * billcore/options.h for the functions that set options of every kind.
 *
 * @code{.c}
 * billcore_call_options* call = NULL;
 * billcore_order* order = NULL;
 * billcore_error* err = NULL;
 * billcore_status status = billcore_call_options_new(&call, &err);
 * if (status == BILLCORE_OK) status = billcore_call_options_set_timeout_ms(call, 60000, &err);
 * if (status == BILLCORE_OK) status = billcore_order_get(client, order_id, call, &order, &err);
 * billcore_call_options_free(call);
 * billcore_order_free(order);
 * billcore_error_free(err);
 * @endcode
 */
#ifndef BILLCORE_CALL_OPTIONS_H
#define BILLCORE_CALL_OPTIONS_H

#include "billcore/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Options of a single call, which replace the client's options. Freed with billcore_call_options_free. Threads: one
 * thread at a time may set values; afterwards the object is immutable. */
typedef struct billcore_call_options billcore_call_options;

/** Makes the options of a call, with no option set. The caller frees *out.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_call_options_new(billcore_call_options** out, billcore_error** err) {
  billcore_options* made = NULL;
  const billcore_status status = billcore_options_new(BILLCORE_OPTIONS_OF_CALL, out == NULL ? NULL : &made, err);
  if (out != NULL) *out = BILLCORE_CAST(billcore_call_options*, made);
  return status;
}

/** Time-out of the call (milliseconds, more than 0), which replaces the client's time-out. For a list: time-out of
 * each page. @since 0.1 */
BILLCORE_INLINE billcore_status billcore_call_options_set_timeout_ms(billcore_call_options* options,
                                                                     int64_t milliseconds, billcore_error** err) {
  return billcore_options_set_int64(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("timeout_ms"), milliseconds,
                                    err);
}

/** Time-out of a whole list or search (milliseconds, more than 0), from its first request on, with the caller's pauses.
 * Without it a list has none, and the time-out of a search is that of the whole search. Other calls ignore it.
 * @since 0.1 */
BILLCORE_INLINE billcore_status billcore_call_options_set_total_timeout_ms(billcore_call_options* options,
                                                                           int64_t milliseconds, billcore_error** err) {
  return billcore_options_set_int64(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("total_timeout_ms"),
                                    milliseconds, err);
}

/** Lets the call run without a deadline.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_call_options_set_no_timeout(billcore_call_options* options,
                                                                     billcore_error** err) {
  return billcore_options_set_bool(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("no_timeout"), true, err);
}

/** Sets a cancel token: the call ends when the token is triggered. For a list, the token applies to the request of
 * every page. The caller may free the token before the options. NULL removes the token from the options.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_call_options_set_cancel(billcore_call_options* options,
                                                                 const billcore_cancel* cancel, billcore_error** err) {
  return billcore_options_set_cancel(BILLCORE_CAST(billcore_options*, options), cancel, err);
}

/** Hook of the call, which replaces the client's hook. The library passes `context` to the hook, and later to
 * `release` (may be NULL), which frees it. With NULL as `hook`, the call uses the client's hook.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_call_options_set_hook(billcore_call_options* options, billcore_hook hook,
                                                               void* context, billcore_release release,
                                                               billcore_error** err) {
  return billcore_options_set_hook(BILLCORE_CAST(billcore_options*, options), hook, context, release, err);
}

/** Interrupt callback of the call (see billcore_interrupt), which replaces the client's callback. The library passes
 * `context` to the callback, and later to `release` (may be NULL), which frees it. With NULL as `callback`, the call
 * uses the client's callback.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_call_options_set_interrupt(billcore_call_options* options,
                                                                    billcore_interrupt callback, void* context,
                                                                    billcore_release release, billcore_error** err) {
  return billcore_options_set_interrupt(BILLCORE_CAST(billcore_options*, options), callback, context, release, err);
}

/** Frees options; accepts NULL.  @since 0.1 */
BILLCORE_INLINE_VOID void billcore_call_options_free(billcore_call_options* options) {
  billcore_options_free(BILLCORE_CAST(billcore_options*, options));
}

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_CALL_OPTIONS_H */
