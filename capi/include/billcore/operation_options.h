/** @file
 * Options of operations. Conventions: billcore.h; what all options share: billcore/options.h.
 *
 * @code{.c}
 * billcore_product_changes* changes = NULL;
 * billcore_product* product = NULL;
 * billcore_error* err = NULL;
 * billcore_status status = billcore_product_changes_new(&changes, &err);
 * if (status == BILLCORE_OK) status = billcore_product_changes_set_price(changes, 1900, &err);
 * if (status == BILLCORE_OK) status = billcore_product_changes_set_null(changes, BILLCORE_STR("description"), &err);
 * if (status == BILLCORE_OK) status = billcore_product_update(client, 102, changes, NULL, &product, &err);
 * billcore_product_changes_free(changes);
 * billcore_product_free(product);
 * billcore_error_free(err);
 * @endcode
 */
#ifndef BILLCORE_OPERATION_OPTIONS_H
#define BILLCORE_OPERATION_OPTIONS_H

#include "billcore/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a charge says besides product and amount; what is not set is not sent. Freed with billcore_charge_options_free.
 * Threads: one thread at a time while it is filled, then immutable. */
typedef struct billcore_charge_options billcore_charge_options;

/** Nothing set yet. New; free it.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_charge_options_new(billcore_charge_options** out, billcore_error** err) {
  billcore_options* made = NULL;
  const billcore_status status = billcore_options_new(BILLCORE_OPTIONS_OF_CHARGE, out == NULL ? NULL : &made, err);
  if (out != NULL) *out = BILLCORE_CAST(billcore_charge_options*, made);
  return status;
}

/** Number of pieces; the service's default is 1.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_charge_options_set_quantity(billcore_charge_options* options, int64_t quantity,
                                                                     billcore_error** err) {
  return billcore_options_set_int64(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("quantity"), quantity, err);
}

/** VAT in basis points; the service's default is 2500 (25 %).  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_charge_options_set_vat(billcore_charge_options* options, int64_t basis_points,
                                                                billcore_error** err) {
  return billcore_options_set_int64(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("vat"), basis_points, err);
}

/** Text of the charge.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_charge_options_set_description(billcore_charge_options* options,
                                                                        billcore_str text, billcore_error** err) {
  return billcore_options_set_text(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("description"), text, err);
}

/** Frees options; accepts NULL.  @since 0.1 */
BILLCORE_INLINE_VOID void billcore_charge_options_free(billcore_charge_options* options) {
  billcore_options_free(BILLCORE_CAST(billcore_options*, options));
}

/** What narrows a search for the orders of a charge. Freed with billcore_charge_search_free. Threads: one thread at a
 * time while it is filled, then immutable. */
typedef struct billcore_charge_search billcore_charge_search;

/** Nothing set yet. New; free it.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_charge_search_new(billcore_charge_search** out, billcore_error** err) {
  billcore_options* made = NULL;
  const billcore_status status =
      billcore_options_new(BILLCORE_OPTIONS_OF_CHARGE_SEARCH, out == NULL ? NULL : &made, err);
  if (out != NULL) *out = BILLCORE_CAST(billcore_charge_search*, made);
  return status;
}

/** How much earlier the time of the order may be than the earlier of the two clocks, the local one and the service's,
 * when the charge was sent: milliseconds, at most ten years. Not set: five minutes. Only with the error of a charge.
 * @since 0.1 */
BILLCORE_INLINE billcore_status billcore_charge_search_set_skew_ms(billcore_charge_search* search, int64_t skew_ms,
                                                                   billcore_error** err) {
  return billcore_options_set_int64(BILLCORE_CAST(billcore_options*, search), BILLCORE_STR("skew_ms"), skew_ms, err);
}

/** Only orders of this product.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_charge_search_set_product_id(billcore_charge_search* search,
                                                                      int64_t product_id, billcore_error** err) {
  return billcore_options_set_int64(BILLCORE_CAST(billcore_options*, search), BILLCORE_STR("product_id"), product_id,
                                    err);
}

/** Frees a search; accepts NULL.  @since 0.1 */
BILLCORE_INLINE_VOID void billcore_charge_search_free(billcore_charge_search* search) {
  billcore_options_free(BILLCORE_CAST(billcore_options*, search));
}

/** The fields of a product to change, sent in the order they were first set. Freed with billcore_product_changes_free.
 * Threads: one thread at a time while it is filled, then immutable. Service interface: ProductWrite. */
typedef struct billcore_product_changes billcore_product_changes;

/** Nothing set yet. New; free it.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_product_changes_new(billcore_product_changes** out, billcore_error** err) {
  billcore_options* made = NULL;
  const billcore_status status = billcore_options_new(BILLCORE_OPTIONS_OF_PRODUCT, out == NULL ? NULL : &made, err);
  if (out != NULL) *out = BILLCORE_CAST(billcore_product_changes*, made);
  return status;
}

/** name; like every text here UTF-8, else BILLCORE_ERROR_INVALID_ARGUMENT.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_product_changes_set_name(billcore_product_changes* changes, billcore_str text,
                                                                  billcore_error** err) {
  return billcore_options_set_text(BILLCORE_CAST(billcore_options*, changes), BILLCORE_STR("name"), text, err);
}

/** description.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_product_changes_set_description(billcore_product_changes* changes,
                                                                         billcore_str text, billcore_error** err) {
  return billcore_options_set_text(BILLCORE_CAST(billcore_options*, changes), BILLCORE_STR("description"), text, err);
}

/** price, cents.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_product_changes_set_price(billcore_product_changes* changes, int64_t cents,
                                                                   billcore_error** err) {
  return billcore_options_set_int64(BILLCORE_CAST(billcore_options*, changes), BILLCORE_STR("price"), cents, err);
}

/** currency.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_product_changes_set_currency(billcore_product_changes* changes,
                                                                      billcore_str text, billcore_error** err) {
  return billcore_options_set_text(BILLCORE_CAST(billcore_options*, changes), BILLCORE_STR("currency"), text, err);
}

/** vat_rate, percent: the text of a JSON number, such as "25" or "12.50", else BILLCORE_ERROR_INVALID_ARGUMENT.
 * @since 0.1
 */
BILLCORE_INLINE billcore_status billcore_product_changes_set_vat_rate(billcore_product_changes* changes,
                                                                      billcore_str number, billcore_error** err) {
  return billcore_options_set_json(BILLCORE_CAST(billcore_options*, changes), BILLCORE_STR("vat_rate"), number, err);
}

/** interval.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_product_changes_set_interval(billcore_product_changes* changes,
                                                                      billcore_str text, billcore_error** err) {
  return billcore_options_set_text(BILLCORE_CAST(billcore_options*, changes), BILLCORE_STR("interval"), text, err);
}

/** Any field to null.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_product_changes_set_null(billcore_product_changes* changes, billcore_str field,
                                                                  billcore_error** err) {
  return billcore_options_set_json(BILLCORE_CAST(billcore_options*, changes), field, BILLCORE_STR("null"), err);
}

/** Any field to any JSON, whose numbers keep their digits; BILLCORE_ERROR_INVALID_ARGUMENT when it is not JSON.
 * @since 0.1 */
BILLCORE_INLINE billcore_status billcore_product_changes_set_json(billcore_product_changes* changes, billcore_str field,
                                                                  billcore_str json, billcore_error** err) {
  return billcore_options_set_json(BILLCORE_CAST(billcore_options*, changes), field, json, err);
}

/** Frees changes; accepts NULL.  @since 0.1 */
BILLCORE_INLINE_VOID void billcore_product_changes_free(billcore_product_changes* options) {
  billcore_options_free(BILLCORE_CAST(billcore_options*, options));
}

/** What a request of your own carries. Freed with billcore_request_options_free. Threads: one thread at a time while it
 * is filled, then immutable. */
typedef struct billcore_request_options billcore_request_options;

/** Nothing set yet. New; free it.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_request_options_new(billcore_request_options** out, billcore_error** err) {
  billcore_options* made = NULL;
  const billcore_status status = billcore_options_new(BILLCORE_OPTIONS_OF_REQUEST, out == NULL ? NULL : &made, err);
  if (out != NULL) *out = BILLCORE_CAST(billcore_request_options*, made);
  return status;
}

/** A query parameter, encoded by the client; in the order of the calls.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_request_options_add_query(billcore_request_options* options, billcore_str name,
                                                                   billcore_str value, billcore_error** err) {
  return billcore_options_add(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("query"), name, value, err);
}

/** The body, checked to be JSON when it is sent.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_request_options_set_json(billcore_request_options* options, billcore_str json,
                                                                  billcore_error** err) {
  return billcore_options_set_json(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("json"), json, err);
}

/** Return every complete answer: a 4xx or 5xx is not an error.  @since 0.1 */
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

#endif /* BILLCORE_OPERATION_OPTIONS_H */
