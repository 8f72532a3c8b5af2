/** @file
 * The REST client. The operations of a client are in billcore/operations.h and in this header. The client may repeat a
 * read; it sends a write at most once. Conventions: billcore.h.
 *
 * Every operation may return these errors: BILLCORE_ERROR_INVALID_ARGUMENT (nothing was sent), BILLCORE_ERROR_CONFIG
 * (the client is closed), an error status of the service (BILLCORE_ERROR_API to BILLCORE_ERROR_SERVER;
 * billcore_error_outcome_unknown is true for a write that may have happened), BILLCORE_ERROR_DECODE (the service
 * reported success, but its answer does not have the promised form), BILLCORE_ERROR_TRANSPORT to BILLCORE_ERROR_TLS
 * (no complete answer arrived; no part of a write was sent), BILLCORE_ERROR_OUTCOME_UNKNOWN (a write was sent, and no
 * complete answer arrived), BILLCORE_ERROR_INTERRUPTED. The argument `call` of an operation may be NULL; in this case
 * the client's options apply.
 *
 * @code{.c}
 * billcore_client* client = NULL;
 * billcore_subscription* subscription = NULL;
 * billcore_str state;
 * billcore_error* err = NULL;
 * billcore_status status = billcore_client_new(NULL, &client, &err);  // uses BILLCORE_BASE_URL and BILLCORE_API_KEY
 * if (status == BILLCORE_OK) status = billcore_subscription_get(client, subscription_id, NULL, &subscription, &err);
 * if (status == BILLCORE_OK) status = billcore_subscription_status(subscription, &state, &err);
 * if (status == BILLCORE_OK) printf("the subscription is %s\n", state.data);
 * if (status != BILLCORE_OK) fprintf(stderr, "%s\n", billcore_error_message(err).data);
 * billcore_subscription_free(subscription);
 * billcore_client_free(client);
 * billcore_error_free(err);
 * @endcode
 */
#ifndef BILLCORE_CLIENT_H
#define BILLCORE_CLIENT_H

#include "billcore/client_handle.h"
#include "billcore/client_options.h"
#include "billcore/operations.h"
#include "billcore/request_options.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Makes a client, which connects with its first call; the caller frees *out. options may be NULL; the caller may
 * free them afterwards. BILLCORE_ERROR_CONFIG when an option is invalid. @since 0.1 */
BILLCORE_API billcore_status billcore_client_new(const billcore_client_options* options, billcore_client** out,
                                                 billcore_error** err);

/** Makes a second client, which differs from `client` in the given options only and shares its connections. The
 * caller frees *out; the two clients may be freed in any order. changes may be NULL. BILLCORE_ERROR_CONFIG when an
 * option is invalid, or `client` is closed. @since 0.1 */
BILLCORE_API billcore_status billcore_client_with_options(const billcore_client* client,
                                                          const billcore_client_changes* changes, billcore_client** out,
                                                          billcore_error** err);

/** Closes idle connections; calls in flight finish; calls that begin later fail with BILLCORE_ERROR_CONFIG. Closing
 * again does nothing. Closing a client made by billcore_client_with_options leaves the shared connections open.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_client_close(billcore_client* client, billcore_error** err);

/** Frees a client; accepts NULL. Call this function only when no call of the client is in flight.  @since 0.1 */
BILLCORE_EXPORT void billcore_client_free(billcore_client* client);

/* ---- operations besides those of billcore/operations.h ---- */

/** Finds the orders that a charge of unknown outcome may have created: the subscription's orders since the charge was
 * sent, latest first. `charge` is the error of that charge, for which billcore_error_outcome_unknown is true; the
 * function neither changes nor frees the error. search may be NULL. The total of the charge's order is amount times
 * quantity (cents without VAT). If the search finds no order with this total, either the charge was not made or the
 * service is still processing it. Before you charge again, wait for as long as the service may need to process the
 * charge, and search a second time; charge again only if the second search does not find the order either.
 * BILLCORE_ERROR_POSSIBLY_MISSED when orders may be missing: see billcore_subscription_found_charges.
 * BILLCORE_ERROR_INVALID_ARGUMENT when `charge` is the error of another operation, or of a charge whose outcome is
 * known. The time-out of `call` applies to the whole search. The caller frees *out. billcore_page_numbers fails for
 * *out, because a search result has no `pagination` object. Service interface: Endpoints, Subscriptions.  @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_find_charges(const billcore_client* client,
                                                                const billcore_error* charge,
                                                                const billcore_charge_search* search,
                                                                const billcore_call_options* call,
                                                                billcore_order_page** out, billcore_error** err);

/** Finds the orders of a charge whose error was lost, for example in a crash: the subscription's orders created at or
 * after `unix_micros` by the service's clock (microseconds since 1970-01-01T00:00:00Z, rounded down to a second).
 * search may be NULL; if it is not NULL, its skew must not be set. The caller frees *out. billcore_page_numbers fails
 * for *out, because a search result has no `pagination` object. Service interface: Endpoints, Subscriptions.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_find_charges_since(const billcore_client* client, billcore_str id,
                                                                      int64_t unix_micros,
                                                                      const billcore_charge_search* search,
                                                                      const billcore_call_options* call,
                                                                      billcore_order_page** out, billcore_error** err);

/** The orders that a search had found when it ended with BILLCORE_ERROR_POSSIBLY_MISSED, latest first.
 * BILLCORE_ERROR_INVALID_ARGUMENT when `search_error` has another status. The caller frees *out. billcore_page_numbers
 * fails for *out, because a search result has no `pagination` object. @since 0.1 */
BILLCORE_API billcore_status billcore_subscription_found_charges(const billcore_error* search_error,
                                                                 billcore_order_page** out, billcore_error** err);

/** Changes only the fields that are set in `changes`; BILLCORE_ERROR_INVALID_ARGUMENT when no field is set. The
 * request is sent at most once. *out is the changed product; the caller frees *out. Service interface: Endpoints,
 * Products.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_product_update(const billcore_client* client, int64_t id,
                                                        const billcore_product_changes* changes,
                                                        const billcore_call_options* call, billcore_product** out,
                                                        billcore_error** err) {
  billcore_operation* made = NULL;
  billcore_result* result = NULL;
  if (out != NULL) *out = NULL;
  billcore_status status = billcore_operation_new(BILLCORE_STR("products.update"), &made, err);
  if (status == BILLCORE_OK) status = billcore_operation_set_int64(made, BILLCORE_STR("id"), id, err);
  if (status == BILLCORE_OK)
    status = billcore_operation_set_options(made, BILLCORE_CAST(const billcore_options*, changes), err);
  if (status == BILLCORE_OK) status = billcore_client_perform(client, made, call, out == NULL ? NULL : &result, err);
  if (status == BILLCORE_OK) status = billcore_result_take_product(&result, out, err);
  billcore_result_free(result);
  billcore_operation_free(made);
  return status;
}

/** Sends a request to any path. `method` is GET, POST, PUT, PATCH or DELETE; a request with a method other than GET
 * counts as a write. `path` is relative to the base URL, begins with a slash, is already encoded, and has no query.
 * options may be NULL. The caller frees *out.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_request(const billcore_client* client, billcore_str method,
                                                        billcore_str path, const billcore_request_options* options,
                                                        const billcore_call_options* call, billcore_response** out,
                                                        billcore_error** err) {
  billcore_operation* made = NULL;
  billcore_result* result = NULL;
  if (out != NULL) *out = NULL;
  billcore_status status = billcore_operation_new(BILLCORE_STR("request"), &made, err);
  if (status == BILLCORE_OK) status = billcore_operation_set_text(made, BILLCORE_STR("method"), method, err);
  if (status == BILLCORE_OK) status = billcore_operation_set_text(made, BILLCORE_STR("path"), path, err);
  if (status == BILLCORE_OK)
    status = billcore_operation_set_options(made, BILLCORE_CAST(const billcore_options*, options), err);
  if (status == BILLCORE_OK) status = billcore_client_perform(client, made, call, out == NULL ? NULL : &result, err);
  if (status == BILLCORE_OK) status = billcore_result_take_response(&result, out, err);
  billcore_result_free(result);
  billcore_operation_free(made);
  return status;
}

/** HTTP status of the answer.  @since 0.1 */
BILLCORE_API billcore_status billcore_response_status(const billcore_response* response, int32_t* out,
                                                      billcore_error** err);

/** The body of the answer, after transfer decoding and decompression (gzip, deflate); it may contain any bytes. The
 * headers stay as received. Fails with BILLCORE_ERROR_DECODE if the body cannot be decompressed.  @since 0.1 */
BILLCORE_API billcore_status billcore_response_body(const billcore_response* response, billcore_str* out,
                                                    billcore_error** err);

/** The body of the answer, parsed as JSON; BILLCORE_ERROR_DECODE when the body is not JSON. The caller frees *out.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_response_json(const billcore_response* response, billcore_value** out,
                                                    billcore_error** err);

/** Status, header fields, attempts and request id of the answer (see billcore/resource.h). The caller frees *out.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_response_get_info(const billcore_response* response, billcore_response_info** out,
                                                        billcore_error** err);

/** Value of the answer's first header field with this name; upper and lower case do not matter.  @since 0.1 */
BILLCORE_API billcore_status billcore_response_header(const billcore_response* response, billcore_str name,
                                                      billcore_str* out, bool* present, billcore_error** err);

/** Number of the answer's header fields.  @since 0.1 */
BILLCORE_API billcore_status billcore_response_header_count(const billcore_response* response, size_t* count,
                                                            billcore_error** err);

/** The answer's header field number `index`, from 0, in the order received; the name is in lower case.  @since 0.1 */
BILLCORE_API billcore_status billcore_response_header_at(const billcore_response* response, size_t index,
                                                         billcore_str* name, billcore_str* value, billcore_error** err);

/** Frees a response; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_response_free(billcore_response* response);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_CLIENT_H */
