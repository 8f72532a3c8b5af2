/** @file
 * Errors: what a failed call says besides its status. Conventions: billcore.h.
 *
 * @code{.c}
 * billcore_order* order = NULL;
 * billcore_error* err = NULL;
 * billcore_status status = billcore_subscription_charge(client, subscription_id, 102, 1500, NULL, NULL, &order, &err);
 * if (billcore_error_outcome_unknown(err)) {
 *   puts("perhaps charged: look at the orders before you charge again");
 * } else if (status == BILLCORE_ERROR_PAYMENT) {
 *   printf("refused: %s\n", billcore_error_api_message(err).data);
 * } else if (status != BILLCORE_OK) {
 *   fprintf(stderr, "%s\n", billcore_error_message(err).data);
 * }
 * billcore_order_free(order);
 * billcore_error_free(err);
 * @endcode
 */
#ifndef BILLCORE_ERROR_H
#define BILLCORE_ERROR_H

#include "billcore/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What went wrong. Freed with billcore_error_free. Texts live as long as it; what does not apply is empty, 0 or false,
 * and so is everything of a NULL error. Threads: immutable. */
typedef struct billcore_error billcore_error;

/** Frees an error; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_error_free(billcore_error* error);

/** The status the call returned; BILLCORE_OK for NULL.  @since 0.1 */
BILLCORE_API billcore_status billcore_error_status(const billcore_error* error);

/** One line: what was wrong and what to do. Never shows secrets or API keys.  @since 0.1 */
BILLCORE_API billcore_str billcore_error_message(const billcore_error* error);

/** HTTP status of the service's answer; for BILLCORE_ERROR_SIGNATURE the one to answer with (413, 401 or 400). 0: none.
 * @since 0.1 */
BILLCORE_API int32_t billcore_error_http_status(const billcore_error* error);

/** `code` of the service's error body. Service interface: Errors.  @since 0.1 */
BILLCORE_API billcore_str billcore_error_api_code(const billcore_error* error);

/** `message` of the service's error body. Service interface: Errors.  @since 0.1 */
BILLCORE_API billcore_str billcore_error_api_message(const billcore_error* error);

/** The answer's text, scrubbed of secrets and cut to some thousand bytes.  @since 0.1 */
BILLCORE_API billcore_str billcore_error_body(const billcore_error* error);

/** Value of the answer's request id header (billcore_client_options_set_request_id_header).  @since 0.1 */
BILLCORE_API billcore_str billcore_error_request_id(const billcore_error* error);

/** True when the answer said how many seconds to wait, which then are in *seconds (may be NULL; else 0).  @since 0.1 */
BILLCORE_API bool billcore_error_retry_after(const billcore_error* error, double* seconds);

/** How often the request was tried; 0 when the error is about no request.  @since 0.1 */
BILLCORE_API int32_t billcore_error_attempts(const billcore_error* error);

/** True when a write may or may not have happened: look before sending it again.  @since 0.1 */
BILLCORE_API bool billcore_error_outcome_unknown(const billcore_error* error);

/** Why a signature check failed, in the order in which the checks are made. Append-only. */
typedef int32_t billcore_reason;
/** Values of a billcore_reason. */
enum {
  BILLCORE_REASON_NONE = 0,           /**< the error is not about a signature */
  BILLCORE_REASON_BODY_TOO_LARGE = 1, /**< answer 413 */
  BILLCORE_REASON_MISSING = 2,        /**< 401: the request has no signature header */
  BILLCORE_REASON_MALFORMED = 3,      /**< 400: not exactly 64 lowercase hex digits */
  BILLCORE_REASON_MISMATCH = 4,       /**< 401: no secret gives this signature for this body */
  BILLCORE_REASON_STALE = 5           /**< 400: signed right, but too old or too new (set_freshness_ms) */
};

/** One of BILLCORE_REASON_*.  @since 0.1 */
BILLCORE_API billcore_reason billcore_error_reason(const billcore_error* error);

/** "mismatch" for BILLCORE_REASON_MISMATCH, and so on; "none" for other numbers. Lives for ever.  @since 0.1 */
BILLCORE_API const char* billcore_reason_name(billcore_reason reason);

/** Method of the request the error is about, such as "POST".  @since 0.1 */
BILLCORE_API billcore_str billcore_error_method(const billcore_error* error);

/** Path of the request the error is about, below the base URL, encoded.  @since 0.1 */
BILLCORE_API billcore_str billcore_error_path(const billcore_error* error);

/** Path of the JSON value that a BILLCORE_ERROR_DECODE, BILLCORE_ERROR_OUT_OF_RANGE or BILLCORE_ERROR_MISSING_FIELD
 * is about, such as "data.price"; empty when it is about a whole answer.  @since 0.1 */
BILLCORE_API billcore_str billcore_error_field_path(const billcore_error* error);

/** True when a write left, whose outcome is now unknown; *unix_micros (may be NULL; else 0) is when.  @since 0.1 */
BILLCORE_API bool billcore_error_attempted_at(const billcore_error* error, int64_t* unix_micros);

/** What went wrong on the wire behind BILLCORE_ERROR_OUTCOME_UNKNOWN, such as BILLCORE_ERROR_TIMEOUT; else
 * BILLCORE_OK.  @since 0.1
 */
BILLCORE_API billcore_status billcore_error_cause(const billcore_error* error);

/** The cause in one line.  @since 0.1 */
BILLCORE_API billcore_str billcore_error_cause_message(const billcore_error* error);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_ERROR_H */
