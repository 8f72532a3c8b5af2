/** @file
 * Options of clients, calls, operations and lists. Conventions: billcore.h.
 *
 * Each kind of options has a type and inline functions of its own, such as billcore_client_options_set_base_url in
 * billcore/client_options.h. The inline functions call those of this header, which set an option by its name; other
 * languages may call these directly. A name that the kind does not have gives BILLCORE_ERROR_INVALID_ARGUMENT. */
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
  BILLCORE_OPTIONS_OF_PRODUCT = 5, /**< the fields of billcore_product_update, under their own names */
  BILLCORE_OPTIONS_OF_REQUEST = 6,
  BILLCORE_OPTIONS_OF_LIST = 7, /**< what to list; a list refuses an option that its kind does not have */
  BILLCORE_OPTIONS_OF_CHARGE_SEARCH = 8
};

/** New options of this kind, with nothing set; free them.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_new(billcore_options_kind kind, billcore_options** out,
                                                  billcore_error** err);

/** Frees options; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_options_free(billcore_options* options);

/** Sets a text option; the text is copied. A client has base_url, api_key, proxy, ca_bundle, client_certificate and
 * request_id_header; a charge has description; a product any field. A list has resume (the state of an earlier list of
 * the same service and query, also of another process), one of subscriptions also reference_id, one of orders also
 * state (each call adds a state to ask for).  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_text(billcore_options* options, billcore_str name, billcore_str value,
                                                       billcore_error** err);

/** Sets an integer option. A client has timeout_ms, max_retries, concurrency and max_response, all but the last also in
 * changes; a call has timeout_ms; a charge has quantity and vat; a product any field. A list has page (the first to
 * read, from 1), one of orders also product_id and per_page (1 to 200). A charge search has skew_ms and product_id.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_int64(billcore_options* options, billcore_str name, int64_t value,
                                                        billcore_error** err);

/** Sets a boolean option. A client has no_timeout, no_proxy, http2 and allow_insecure_http; changes and a call have
 * no_timeout; a request has raise_on_error; a list has strict. Options whose names begin with no_ accept only true.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_bool(billcore_options* options, billcore_str name, bool value,
                                                       billcore_error** err);

/** Sets an option as JSON text, which is copied: any field of a product, or json, the body of a request. A text that is
 * not JSON gives BILLCORE_ERROR_INVALID_ARGUMENT: for a field at once, for a body when the request is made.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_json(billcore_options* options, billcore_str name, billcore_str json,
                                                       billcore_error** err);

/** Adds a pair of texts to an option: headers of a client or of changes, query of a request. The texts are copied.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_options_add(billcore_options* options, billcore_str name, billcore_str key,
                                                  billcore_str value, billcore_error** err);

/** An interrupt. The library calls it at least every 50 ms while a call waits, on the thread of the call; true ends the
 * call with BILLCORE_ERROR_INTERRUPTED. A call whose answer arrives first returns as usual. For a write,
 * billcore_error_http_status is the status of an answer that arrived while the callback ran (0: none),
 * billcore_error_message says what that status means, and billcore_error_outcome_unknown whether the write may have
 * happened. */
typedef bool (*billcore_interrupt)(void* context);

/** Sets the interrupt of a client or of a call; that of a call replaces its client's. The callback gets `context`,
 * which `release` (may be NULL) releases. A NULL callback removes the interrupt.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_interrupt(billcore_options* options, billcore_interrupt callback,
                                                            void* context, billcore_release release,
                                                            billcore_error** err);

/** Sets the hook of a client, of changes or of a call. The hook gets `context`, which `release` (may be NULL) releases.
 * NULL removes the hook.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_hook(billcore_options* options, billcore_hook hook, void* context,
                                                       billcore_release release, billcore_error** err);

/** Sets the token that ends a call. The token may be freed before the options; NULL removes it.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_cancel(billcore_options* options, const billcore_cancel* cancel,
                                                         billcore_error** err);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_OPTIONS_H */
