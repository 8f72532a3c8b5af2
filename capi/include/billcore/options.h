/** @file
 * Options of clients, calls, operations and lists. Conventions: billcore.h.
 *
 * Each kind of options has a type and inline functions of its own, such as billcore_client_options_set_base_url in
 * billcore/client_options.h. The inline functions call the functions of this header, which set an option by its name.
 * Bindings for other languages may call the functions of this header directly. A setter returns
 * BILLCORE_ERROR_INVALID_ARGUMENT when options of the given kind have no option with the given name. */
#ifndef BILLCORE_OPTIONS_H
#define BILLCORE_OPTIONS_H

#include "billcore/cancel.h"
#include "billcore/error.h"
#include "billcore/hooks.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Options of any kind. Freed with billcore_options_free. Threads: one thread at a time may set options; afterwards the
 * object is immutable. */
typedef struct billcore_options billcore_options;

/** The kind of an options object: the type of object or call to which the options apply. Append-only. */
typedef int32_t billcore_options_kind;
/** Values of a billcore_options_kind. */
enum {
  BILLCORE_OPTIONS_OF_CLIENT = 1,
  BILLCORE_OPTIONS_OF_CHANGES = 2, /**< for billcore_client_with_options */
  BILLCORE_OPTIONS_OF_CALL = 3,
  BILLCORE_OPTIONS_OF_CHARGE = 4,
  BILLCORE_OPTIONS_OF_PRODUCT = 5, /**< the fields that billcore_product_update changes, by their names */
  BILLCORE_OPTIONS_OF_REQUEST = 6,
  BILLCORE_OPTIONS_OF_LIST = 7, /**< for any list; each list refuses the options that it does not support */
  BILLCORE_OPTIONS_OF_CHARGE_SEARCH = 8
};

/** Makes options of this kind, with no option set. The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_new(billcore_options_kind kind, billcore_options** out,
                                                  billcore_error** err);

/** Frees options; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_options_free(billcore_options* options);

/** Sets a text option; the text is copied. Option names for a client: base_url, api_key, proxy, ca_bundle,
 * client_certificate, request_id_header; for a charge: description; for a product: any field; for every list: resume;
 * for a list of subscriptions: reference_id; for a list of orders: state, where each call adds one order state to the
 * filter. The value of resume is the state of an earlier list with the same service and query; another process may
 * have read the earlier list.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_text(billcore_options* options, billcore_str name, billcore_str value,
                                                       billcore_error** err);

/** Sets an integer option. Option names for a client: timeout_ms, max_retries, concurrency, max_connections,
 * max_response; for changes of a client: the same without max_response and max_connections; for a call: timeout_ms,
 * total_timeout_ms; for a charge: quantity, vat; for a product: any field; for a charge search: skew_ms, product_id;
 * for every list: page, the number of the first page to read (from 1); for a list of orders: product_id and per_page
 * (1 to 200).  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_int64(billcore_options* options, billcore_str name, int64_t value,
                                                        billcore_error** err);

/** Sets a boolean option. Option names for a client: no_timeout, no_proxy, http2, allow_insecure_http; for changes of
 * a client and for a call: no_timeout; for a request: raise_on_error; for a list: strict. Options whose names begin
 * with no_ accept only true.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_bool(billcore_options* options, billcore_str name, bool value,
                                                       billcore_error** err);

/** Sets an option to JSON text, which is copied. Option names for a product: any field; for a request: json, the
 * request's body. If the text is not JSON, this function returns BILLCORE_ERROR_INVALID_ARGUMENT for a product's field,
 * and billcore_client_request returns it for a body.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_json(billcore_options* options, billcore_str name, billcore_str json,
                                                       billcore_error** err);

/** Adds a copy of the pair `key` and `value` to the option `name`, which is headers for a client and for changes of a
 * client, and query for a request.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_add(billcore_options* options, billcore_str name, billcore_str key,
                                                  billcore_str value, billcore_error** err);

/** An interrupt: a callback that the library calls at least every 50 ms while a call waits, on the thread of the call.
 * If the callback returns true, the call ends with BILLCORE_ERROR_INTERRUPTED. If the answer arrives before the call is
 * interrupted, the call returns as usual. After an interrupted write, billcore_error_outcome_unknown says whether the
 * write may have happened. If an answer to the write arrived while the callback ran, billcore_error_http_status returns
 * the status of that answer, and billcore_error_message explains the status; otherwise billcore_error_http_status
 * returns 0. */
typedef bool (*billcore_interrupt)(void* context);

/** Sets the interrupt of a client or of a call; a call's interrupt replaces the client's. The library passes `context`
 * to the callback, and calls `release` (may be NULL) when it no longer needs `context`. NULL as `callback` removes
 * the interrupt set before.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_interrupt(billcore_options* options, billcore_interrupt callback,
                                                            void* context, billcore_release release,
                                                            billcore_error** err);

/** Sets the hook of a client, of changes or of a call. The library passes `context` to the hook, and calls `release`
 * (may be NULL) when it no longer needs `context`. NULL as `hook` removes the hook set before.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_hook(billcore_options* options, billcore_hook hook, void* context,
                                                       billcore_release release, billcore_error** err);

/** Sets the token that cancels a call. The caller may free the token before the options. NULL as `cancel` removes the
 * token set before.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_cancel(billcore_options* options, const billcore_cancel* cancel,
                                                         billcore_error** err);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_OPTIONS_H */
