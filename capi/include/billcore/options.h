/** @file
 * Options: of a client, of a call, of the operations and of lists. Conventions: billcore.h.
 *
 * Each kind has a type and inline functions of its own, such as billcore_client_options_set_base_url in
 * billcore/client_options.h. They call the functions below, which set an option by its name; other languages may call
 * these directly. A name that the kind does not have is BILLCORE_ERROR_INVALID_ARGUMENT. */
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

/** What the options are of. Append-only. */
typedef int32_t billcore_options_kind;
/** Values of a billcore_options_kind. */
enum {
  BILLCORE_OPTIONS_OF_CLIENT = 1,
  BILLCORE_OPTIONS_OF_CHANGES = 2, /**< of billcore_client_with_options */
  BILLCORE_OPTIONS_OF_CALL = 3,
  BILLCORE_OPTIONS_OF_CHARGE = 4,
  BILLCORE_OPTIONS_OF_PRODUCT = 5, /**< the fields of billcore_product_update, under their own names */
  BILLCORE_OPTIONS_OF_REQUEST = 6,
  BILLCORE_OPTIONS_OF_LIST = 7, /**< what to list; a list refuses what its kind does not have */
  BILLCORE_OPTIONS_OF_CHARGE_SEARCH = 8
};

/** Nothing set yet. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_new(billcore_options_kind kind, billcore_options** out,
                                                  billcore_error** err);

/** Frees options; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_options_free(billcore_options* options);

/** Client: base_url, api_key, proxy, ca_bundle, client_certificate, request_id_header. Charge: description. Product:
 * any field. List: reference_id, of subscriptions; state, of orders, where several calls ask for any of these; resume, the
 * state of a list of the same service and query, also of an earlier process. Copied.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_text(billcore_options* options, billcore_str name, billcore_str value,
                                                       billcore_error** err);

/** Client: timeout_ms, max_retries, concurrency, max_response. Changes: timeout_ms, max_retries, concurrency. Call:
 * timeout_ms. Charge: quantity, vat. Product: any field. List: page to begin with, from 1; product_id and
 * per_page (1 to 200), of orders. Charge search: skew_ms, product_id.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_int64(billcore_options* options, billcore_str name, int64_t value,
                                                        billcore_error** err);

/** Client: no_timeout, no_proxy, http2, allow_insecure_http. Changes and call: no_timeout. Request: raise_on_error. List:
 * strict. The names that begin with no_ take true only.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_bool(billcore_options* options, billcore_str name, bool value,
                                                       billcore_error** err);

/** Product: any field, as JSON. Request: json, the body. Copied; BILLCORE_ERROR_INVALID_ARGUMENT for what is not JSON.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_json(billcore_options* options, billcore_str name, billcore_str json,
                                                       billcore_error** err);

/** One of several. Client and changes: headers. Request: query. Copied.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_add(billcore_options* options, billcore_str name, billcore_str key,
                                                  billcore_str value, billcore_error** err);

/** Asked at least every 50 ms while a call waits, on the thread of the call; true ends the call with
 * BILLCORE_ERROR_INTERRUPTED. A call whose answer comes first returns as usual. Of a write the error says what is
 * known: billcore_error_http_status is that of an answer that came while it was asked (0: none),
 * billcore_error_message what it means, billcore_error_outcome_unknown whether the write may have happened. */
typedef bool (*billcore_interrupt)(void* context);

/** Client and call; a call's counts instead of its client's. The callback gets `context`, which `release` (may be NULL)
 * releases. A NULL callback removes it.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_interrupt(billcore_options* options, billcore_interrupt callback,
                                                            void* context, billcore_release release,
                                                            billcore_error** err);

/** Client, changes and call. The hook gets `context`, which `release` (may be NULL) releases. A NULL hook removes it.
 *  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_hook(billcore_options* options, billcore_hook hook, void* context,
                                                       billcore_release release, billcore_error** err);

/** Call. The token may be freed before the options; NULL removes it.  @since 0.1 */
BILLCORE_API billcore_status billcore_options_set_cancel(billcore_options* options, const billcore_cancel* cancel,
                                                         billcore_error** err);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_OPTIONS_H */
