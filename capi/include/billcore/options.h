/* Options of a client, of a call and of the operations. Conventions: billcore.h. */
#ifndef BILLCORE_OPTIONS_H
#define BILLCORE_OPTIONS_H

#include "billcore/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a client ---- */

/** How a client reaches the service. Values are checked by billcore_client_new. Freed with
 * billcore_client_options_free. Threads: one thread at a time. */
typedef struct billcore_client_options billcore_client_options;

/** Nothing set yet. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_options_new(billcore_client_options** out, billcore_error** err);

/** Address of the service up to and including the account segment, with or without a slash at its end; https, or http
 * on loopback. Not set or empty: the environment variable BILLCORE_BASE_URL.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_options_set_base_url(billcore_client_options* options, billcore_str url,
                                                                  billcore_error** err);

/** Not set or empty: the environment variable BILLCORE_API_KEY. Service interface: Authentication.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_options_set_api_key(billcore_client_options* options, billcore_str key,
                                                                 billcore_error** err);

/** One budget for a whole call: DNS, connect, TLS, all attempts and the waits between them (milliseconds, more than 0).
 * Default: 30,000.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_options_set_timeout_ms(billcore_client_options* options,
                                                                    int64_t milliseconds, billcore_error** err);

/** No deadline.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_options_set_no_timeout(billcore_client_options* options,
                                                                    billcore_error** err);

/** Further attempts of a call, where one is safe: of a GET when no connection came about, the answer broke off, or its
 * status is 408, 429 or 5xx; of a write only when nothing of it was sent. 0: exactly one send. Default: 2.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_options_set_max_retries(billcore_client_options* options,
                                                                     int32_t max_retries, billcore_error** err);

/** Pages of a list on their way at once, at least 1, which reads one page after the other; after a 429 fewer. Default: 8.
 *  @since 0.1 */
BILLCORE_API billcore_status billcore_client_options_set_concurrency(billcore_client_options* options, int32_t pages,
                                                                     billcore_error** err);

/** URL of a proxy, such as http://user:password@proxy.example:3128 (http, https, socks4, socks4a, socks5, socks5h). Default:
 * what the environment says (HTTPS_PROXY, ALL_PROXY, NO_PROXY), but never for a base URL on loopback.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_options_set_proxy(billcore_client_options* options, billcore_str url,
                                                               billcore_error** err);

/** No proxy, whatever the environment says.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_options_set_no_proxy(billcore_client_options* options,
                                                                  billcore_error** err);

/** File of PEM certificates to trust. Default: $SSL_CERT_FILE or $SSL_CERT_DIR, else the system's.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_options_set_ca_bundle(billcore_client_options* options, billcore_str file,
                                                                   billcore_error** err);

/** File of PEM with a certificate, those above it, and its key without a password: shown to a service that asks for one.
 * Default: none.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_options_set_client_certificate(billcore_client_options* options,
                                                                            billcore_str file, billcore_error** err);

/** A header field to send with every request; a User-Agent is put behind the client's own.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_options_add_header(billcore_client_options* options, billcore_str name,
                                                                billcore_str value, billcore_error** err);

/** Offer HTTP/2, whatever the libcurl in use. Default: offered where that libcurl ends a call in time although the other
 * side floods it with small frames; that of Debian 12 does not.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_options_enable_http2(billcore_client_options* options,
                                                                  billcore_error** err);

/** HTTP/1.1 only.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_options_disable_http2(billcore_client_options* options,
                                                                   billcore_error** err);

/** Allow http to hosts that are not loopback: the API key travels in the clear.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_options_allow_insecure_http(billcore_client_options* options,
                                                                         billcore_error** err);

/** Header of an answer whose value is shown as the request id. Default: X-Request-Id.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_options_set_request_id_header(billcore_client_options* options,
                                                                           billcore_str name, billcore_error** err);

/** Larger answers are refused (bytes, more than 0). Default: 64 MiB.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_options_set_max_response(billcore_client_options* options, size_t bytes,
                                                                      billcore_error** err);

/** Asked at least every 50 ms while a call waits, on the thread of the call; true ends the call with
 * BILLCORE_INTERRUPTED. A call whose answer comes first returns as usual. Of a write the error says what is known:
 * billcore_error_http_status is that of an answer that came while it was asked (0: none), billcore_error_message what it
 * means, billcore_error_outcome_unknown whether the write may have happened. */
typedef bool (*billcore_interrupt)(void* context);

/** `context` is handed to the callback; both must live as long as the client. A NULL callback takes it back.
 *  @since 0.1 */
BILLCORE_API billcore_status billcore_client_options_set_interrupt(billcore_client_options* options,
                                                                   billcore_interrupt callback, void* context,
                                                                   billcore_error** err);

/** Frees options; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_client_options_free(billcore_client_options* options);

/* ---- a call ---- */

/** What a single call does differently from its client. Freed with billcore_call_options_free. Threads: one thread at a
 * time while it is filled, then immutable. */
typedef struct billcore_call_options billcore_call_options;

/** Nothing set yet. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_call_options_new(billcore_call_options** out, billcore_error** err);

/** Instead of the client's; for lists it holds per page (milliseconds, more than 0).  @since 0.1 */
BILLCORE_API billcore_status billcore_call_options_set_timeout_ms(billcore_call_options* options, int64_t milliseconds,
                                                                  billcore_error** err);

/** No deadline for the call.  @since 0.1 */
BILLCORE_API billcore_status billcore_call_options_set_no_timeout(billcore_call_options* options, billcore_error** err);

/** Frees options; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_call_options_free(billcore_call_options* options);

/* ---- a client that differs from another ---- */

/** What billcore_client_with_options changes; what is not set stays. Freed with billcore_client_changes_free. Threads: one
 * thread at a time while it is filled, then immutable. */
typedef struct billcore_client_changes billcore_client_changes;

/** Nothing set yet. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_changes_new(billcore_client_changes** out, billcore_error** err);

/** As billcore_client_options_set_timeout_ms.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_changes_set_timeout_ms(billcore_client_changes* changes,
                                                                    int64_t milliseconds, billcore_error** err);

/** No deadline.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_changes_set_no_timeout(billcore_client_changes* changes,
                                                                    billcore_error** err);

/** As billcore_client_options_set_max_retries.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_changes_set_max_retries(billcore_client_changes* changes,
                                                                     int32_t max_retries, billcore_error** err);

/** As billcore_client_options_set_concurrency.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_changes_set_concurrency(billcore_client_changes* changes, int32_t pages,
                                                                     billcore_error** err);

/** A header field; those added here take the place of all that the client had.  @since 0.1 */
BILLCORE_API billcore_status billcore_client_changes_add_header(billcore_client_changes* changes, billcore_str name,
                                                                billcore_str value, billcore_error** err);

/** Frees changes; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_client_changes_free(billcore_client_changes* changes);

/* ---- a charge ---- */

/** What a charge says besides product and amount; what is not set is not sent. Freed with billcore_charge_options_free.
 * Threads: one thread at a time while it is filled, then immutable. */
typedef struct billcore_charge_options billcore_charge_options;

/** Nothing set yet. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_charge_options_new(billcore_charge_options** out, billcore_error** err);

/** How many; the service's default is 1.  @since 0.1 */
BILLCORE_API billcore_status billcore_charge_options_set_quantity(billcore_charge_options* options, int64_t quantity,
                                                                  billcore_error** err);

/** VAT in basis points; the service's default is 2500 (25 %).  @since 0.1 */
BILLCORE_API billcore_status billcore_charge_options_set_vat(billcore_charge_options* options, int64_t basis_points,
                                                             billcore_error** err);

/** Text of the charge.  @since 0.1 */
BILLCORE_API billcore_status billcore_charge_options_set_description(billcore_charge_options* options,
                                                                     billcore_str text, billcore_error** err);

/** Frees options; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_charge_options_free(billcore_charge_options* options);

/* ---- a product update ---- */

/** The fields of a product to change, sent in the order they were first set. Freed with billcore_product_changes_free.
 * Threads: one thread at a time while it is filled, then immutable. Service interface: ProductWrite. */
typedef struct billcore_product_changes billcore_product_changes;

/** Nothing set yet. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_changes_new(billcore_product_changes** out, billcore_error** err);

/** name; like every text here UTF-8, else BILLCORE_INVALID_ARGUMENT.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_changes_set_name(billcore_product_changes* changes, billcore_str text,
                                                               billcore_error** err);

/** description.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_changes_set_description(billcore_product_changes* changes,
                                                                      billcore_str text, billcore_error** err);

/** price, cents.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_changes_set_price(billcore_product_changes* changes, int64_t cents,
                                                                billcore_error** err);

/** currency.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_changes_set_currency(billcore_product_changes* changes, billcore_str text,
                                                                   billcore_error** err);

/** vat_rate, percent: the text of a JSON number, such as "25" or "12.50", else BILLCORE_INVALID_ARGUMENT.  @since 0.1
 */
BILLCORE_API billcore_status billcore_product_changes_set_vat_rate(billcore_product_changes* changes,
                                                                   billcore_str number, billcore_error** err);

/** interval.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_changes_set_interval(billcore_product_changes* changes, billcore_str text,
                                                                   billcore_error** err);

/** Any field to null.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_changes_set_null(billcore_product_changes* changes, billcore_str field,
                                                               billcore_error** err);

/** Any field to any JSON, whose numbers keep their digits; BILLCORE_INVALID_ARGUMENT when it is no JSON.  @since 0.1 */
BILLCORE_API billcore_status billcore_product_changes_set_json(billcore_product_changes* changes, billcore_str field,
                                                               billcore_str json, billcore_error** err);

/** Frees changes; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_product_changes_free(billcore_product_changes* changes);

/* ---- a request of your own ---- */

/** What a request of your own carries. Freed with billcore_request_options_free. Threads: one thread at a time while it
 * is filled, then immutable. */
typedef struct billcore_request_options billcore_request_options;

/** Nothing set yet. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_request_options_new(billcore_request_options** out, billcore_error** err);

/** A query parameter, encoded by the client; in the order of the calls.  @since 0.1 */
BILLCORE_API billcore_status billcore_request_options_add_query(billcore_request_options* options, billcore_str name,
                                                                billcore_str value, billcore_error** err);

/** The body, checked to be JSON when it is sent.  @since 0.1 */
BILLCORE_API billcore_status billcore_request_options_set_json(billcore_request_options* options, billcore_str json,
                                                               billcore_error** err);

/** Give back every complete answer: a 4xx or 5xx is no error.  @since 0.1 */
BILLCORE_API billcore_status billcore_request_options_accept_all_statuses(billcore_request_options* options,
                                                                          billcore_error** err);

/** Frees options; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_request_options_free(billcore_request_options* options);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_OPTIONS_H */
