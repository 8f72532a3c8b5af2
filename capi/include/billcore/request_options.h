/** @file
 * Options of a search for charges, and of billcore_client_request. See billcore.h for the conventions, and
 * billcore/options.h for the functions that set options of every kind.
 *
 * @code{.c}
 * billcore_request_options* options = NULL;
 * billcore_response* response = NULL;
 * billcore_error* err = NULL;
 * billcore_status status = billcore_request_options_new(&options, &err);
 * if (status == BILLCORE_OK)
 *   status = billcore_request_options_add_query(options, BILLCORE_STR("page"), BILLCORE_STR("1"), &err);
 * if (status == BILLCORE_OK)
 *   status = billcore_client_request(client, BILLCORE_STR("GET"), BILLCORE_STR("/products"), options, NULL, &response, &err);
 * billcore_request_options_free(options);
 * billcore_response_free(response);
 * billcore_error_free(err);
 * @endcode
 */
#ifndef BILLCORE_REQUEST_OPTIONS_H
#define BILLCORE_REQUEST_OPTIONS_H

#include "billcore/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Options of a search for the orders of a charge. Freed with billcore_charge_search_free. Threads: one thread at a
 * time may set options; afterwards the object is immutable. */
typedef struct billcore_charge_search billcore_charge_search;

/** Makes the options of a search, with no option set. The caller frees *out.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_charge_search_new(billcore_charge_search** out, billcore_error** err) {
  billcore_options* made = NULL;
  const billcore_status status =
      billcore_options_new(BILLCORE_OPTIONS_OF_CHARGE_SEARCH, out == NULL ? NULL : &made, err);
  if (out != NULL) *out = BILLCORE_CAST(billcore_charge_search*, made);
  return status;
}

/** Extends the search to orders that were created up to `skew_ms` milliseconds (at most ten years) before the charge.
 * If the local clock and the service's clock give different times for the charge, the search uses the earlier time.
 * Default: five minutes. billcore_subscription_find_charges_since refuses this option.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_charge_search_set_skew_ms(billcore_charge_search* search, int64_t skew_ms,
                                                                   billcore_error** err) {
  return billcore_options_set_int64(BILLCORE_CAST(billcore_options*, search), BILLCORE_STR("skew_ms"), skew_ms, err);
}

/** Restricts the search to orders of this product.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_charge_search_set_product_id(billcore_charge_search* search,
                                                                      int64_t product_id, billcore_error** err) {
  return billcore_options_set_int64(BILLCORE_CAST(billcore_options*, search), BILLCORE_STR("product_id"), product_id,
                                    err);
}

/** Frees a search; accepts NULL.  @since 0.1 */
BILLCORE_INLINE_VOID void billcore_charge_search_free(billcore_charge_search* search) {
  billcore_options_free(BILLCORE_CAST(billcore_options*, search));
}

/** Query, body and other options of billcore_client_request. Freed with billcore_request_options_free. Threads: one
 * thread at a time may set options; afterwards the object is immutable. */
typedef struct billcore_request_options billcore_request_options;

/** Makes the options of a request, with no option set. The caller frees *out.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_request_options_new(billcore_request_options** out, billcore_error** err) {
  billcore_options* made = NULL;
  const billcore_status status = billcore_options_new(BILLCORE_OPTIONS_OF_REQUEST, out == NULL ? NULL : &made, err);
  if (out != NULL) *out = BILLCORE_CAST(billcore_request_options*, made);
  return status;
}

/** Adds a query parameter, which the client encodes. The client sends the parameters in the order in which they were
 * added.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_request_options_add_query(billcore_request_options* options, billcore_str name,
                                                                   billcore_str value, billcore_error** err) {
  return billcore_options_add(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("query"), name, value, err);
}

/** Sets the body, which must be JSON: billcore_client_request checks the body before it sends the request.  @since 0.1
 */
BILLCORE_INLINE billcore_status billcore_request_options_set_json(billcore_request_options* options, billcore_str json,
                                                                  billcore_error** err) {
  return billcore_options_set_json(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("json"), json, err);
}

/** Makes billcore_client_request return every complete answer, even one with a status 4xx or 5xx, instead of an error.
 * @since 0.1 */
BILLCORE_INLINE billcore_status billcore_request_options_accept_all_statuses(billcore_request_options* options,
                                                                             billcore_error** err) {
  return billcore_options_set_bool(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("raise_on_error"), false,
                                   err);
}

/** Frees options; accepts NULL.  @since 0.1 */
BILLCORE_INLINE_VOID void billcore_request_options_free(billcore_request_options* options) {
  billcore_options_free(BILLCORE_CAST(billcore_options*, options));
}

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_REQUEST_OPTIONS_H */
