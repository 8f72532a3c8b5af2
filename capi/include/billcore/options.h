/** @file
 * Options of clients, calls, operations and lists. Conventions: billcore.h.
 *
 * Each kind of options has a type and inline functions of its own, such as billcore_client_options_set_base_url in
 * billcore/client_options.h. The inline functions call the functions of this header, which set an option by its name;
 * bindings for other languages may call the latter directly. A name that the kind of options does not have gives
 * BILLCORE_ERROR_INVALID_ARGUMENT. */
#ifndef BILLCORE_OPTIONS_H
#define BILLCORE_OPTIONS_H

#include "billcore/cancel.h"
#include "billcore/error.h"
#include "billcore/hooks.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Options of any kind. Freed with billcore_options_free. Threads: one thread at a time while they are filled, then
 * immutable. */
typedef struct billcore_options billcore_options;

/** What a set of options is for. Append-only. */
typedef int32_t billcore_options_kind;
/** Values of a billcore_options_kind. */
enum {
  BILLCORE_OPTIONS_OF_CLIENT = 1,
  BILLCORE_OPTIONS_OF_CHANGES = 2, /**< for billcore_client_with_options */
  BILLCORE_OPTIONS_OF_CALL = 3,
  BILLCORE_OPTIONS_OF_CHARGE = 4,
  BILLCORE_OPTIONS_OF_PRODUCT = 5, /**< the fields that billcore_product_update changes, by their names */
  BILLCORE_OPTIONS_OF_REQUEST = 6,
  BILLCORE_OPTIONS_OF_LIST = 7, /**< of all lists; a list refuses the options that only other lists have */
  BILLCORE_OPTIONS_OF_CHARGE_SEARCH = 8
};

/** New options of this kind, with nothing set; free them.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_new(billcore_options_kind kind, billcore_options** out,
                                                  billcore_error** err);

/** Frees options; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_options_free(billcore_options* options);

/** Sets a text option; the text is copied. A client has base_url, api_key, proxy, ca_bundle, client_certificate and
 * request_id_header; a charge has description; a product any field. A list has resume (the state of an earlier list of
 * the same service and query, even of another process). A list of subscriptions also has reference_id, and a list of
 * orders also has state (each call adds one order state to ask for).  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_text(billcore_options* options, billcore_str name, billcore_str value,
                                                       billcore_error** err);

/** Sets an integer option. A client has timeout_ms, max_retries, concurrency and max_response; changes of a client have
 * all of these but max_response; a call has timeout_ms; a charge has quantity and vat; a product any field. A list has
 * page (number of the first page to read, from 1), and a list of orders also has product_id and per_page (1 to 200). A
 * charge search has skew_ms and product_id.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_int64(billcore_options* options, billcore_str name, int64_t value,
                                                        billcore_error** err);

/** Sets a boolean option. A client has no_timeout, no_proxy, http2 and allow_insecure_http; changes and a call have
 * no_timeout; a request has raise_on_error; a list has strict. Options whose names begin with no_ accept only true.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_bool(billcore_options* options, billcore_str name, bool value,
                                                       billcore_error** err);

/** Sets an option to JSON text, which is copied. A product has any field; a request has json, its body. Text that is
 * not JSON gives BILLCORE_ERROR_INVALID_ARGUMENT, for a field at once, for a body only when the request is made.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_json(billcore_options* options, billcore_str name, billcore_str json,
                                                       billcore_error** err);

/** Adds a name and a value, which are copied, to an option. A client and changes have headers; a request has query.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_options_add(billcore_options* options, billcore_str name, billcore_str key,
                                                  billcore_str value, billcore_error** err);

/** An interrupt: a callback that the library calls at least every 50 ms while a call waits, on the thread of the call.
 * If the callback returns true, the call ends with BILLCORE_ERROR_INTERRUPTED. A call whose answer arrives first
 * returns as usual. For an interrupted write, billcore_error_http_status is the status of an answer that arrived while
 * the callback ran (or 0), billcore_error_message says what that status means, and billcore_error_outcome_unknown says
 * whether the write may have happened. */
typedef bool (*billcore_interrupt)(void* context);

/** Sets the interrupt of a client or of a call; a call's interrupt replaces the client's. The callback gets `context`,
 * which `release` (may be NULL) releases. A NULL callback removes the interrupt.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_interrupt(billcore_options* options, billcore_interrupt callback,
                                                            void* context, billcore_release release,
                                                            billcore_error** err);

/** Sets the hook of a client, of changes or of a call. The hook gets `context`, which `release` (may be NULL) releases.
 * NULL removes the hook.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_hook(billcore_options* options, billcore_hook hook, void* context,
                                                       billcore_release release, billcore_error** err);

/** Sets the token that cancels a call. The token may be freed before the options. NULL removes the token from the
 * options.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_cancel(billcore_options* options, const billcore_cancel* cancel,
                                                         billcore_error** err);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_OPTIONS_H */
