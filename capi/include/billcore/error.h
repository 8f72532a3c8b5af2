/** @file
 * Errors: the details that a failed call returns in addition to its status. Conventions: billcore.h.
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

/** The error of a failed call. Freed with billcore_error_free. Texts read from an error are valid until the error is
 * freed. A getter returns an empty text, 0 or false when the error does not have the value, or when `error` is NULL.
 * Threads: immutable. */
typedef struct billcore_error billcore_error;

/** Frees an error; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_error_free(billcore_error* error);

/** The status that the failed call returned; BILLCORE_OK for NULL.  @since 0.1 */
BILLCORE_API billcore_status billcore_error_status(const billcore_error* error);

/** One line that describes the failure and the remedy. The message never shows secrets or API keys.  @since 0.1 */
BILLCORE_API billcore_str billcore_error_message(const billcore_error* error);

/** HTTP status of the service's answer, or 0; for BILLCORE_ERROR_SIGNATURE the status (413, 401 or 400) of the
 * receiver's answer to the webhook.  @since 0.1 */
BILLCORE_API int32_t billcore_error_http_status(const billcore_error* error);

/** Member `code` of the service's error body. Service interface: Errors.  @since 0.1 */
BILLCORE_API billcore_str billcore_error_api_code(const billcore_error* error);

/** Member `message` of the service's error body. Service interface: Errors.  @since 0.1 */
BILLCORE_API billcore_str billcore_error_api_message(const billcore_error* error);

/** The beginning of the answer's body (at most a few thousand bytes), with secrets redacted.  @since 0.1 */
BILLCORE_API billcore_str billcore_error_body(const billcore_error* error);

/** Value of the answer's request id header (billcore_client_options_set_request_id_header).  @since 0.1 */
BILLCORE_API billcore_str billcore_error_request_id(const billcore_error* error);

/** True when the answer says how long to wait before a retry. *seconds (seconds may be NULL) is the length of that
 * wait, or 0 when the function returns false. @since 0.1 */
BILLCORE_API bool billcore_error_retry_after(const billcore_error* error, double* seconds);

/** Number of attempts of the request; 0 when the error is not about a request.  @since 0.1 */
BILLCORE_API int32_t billcore_error_attempts(const billcore_error* error);

/** True for a write that may or may not have happened. Before you send the write again, check whether it happened.
 * @since 0.1 */
BILLCORE_API bool billcore_error_outcome_unknown(const billcore_error* error);

/** True for a write that may have been sent after its deadline, because the process or the machine was stopped while
 * the library sent it.  @since 0.1 */
BILLCORE_API bool billcore_error_sent_late(const billcore_error* error);

/** The reasons why a delivery is refused: those of a signature check, in the order of the checks, and those of a
 * receiver that reads the body itself (no function of this library returns them). Append-only. */
typedef int32_t billcore_reason;
/** Values of a billcore_reason, each with the HTTP status of the receiver's answer. */
enum {
  BILLCORE_REASON_NONE = 0,           /**< the error is not about a signature */
  BILLCORE_REASON_BODY_TOO_LARGE = 1, /**< status 413: the body is over the limit */
  BILLCORE_REASON_MISSING = 2,        /**< status 401: the request has no signature header */
  BILLCORE_REASON_MALFORMED = 3,      /**< status 400: not exactly 64 lowercase hex digits */
  BILLCORE_REASON_MISMATCH = 4,       /**< status 401: no secret gives this signature for this body */
  BILLCORE_REASON_STALE = 5,          /**< status 400: the signature is right, but the event is too old or too new */
  BILLCORE_REASON_DISCONNECTED = 6,   /**< status 499: the sender disconnected before the end of the body */
  BILLCORE_REASON_TIMEOUT = 7         /**< status 408: the body did not arrive in time */
};

/** The reason of a BILLCORE_ERROR_SIGNATURE: one of BILLCORE_REASON_*.  @since 0.1 */
BILLCORE_API billcore_reason billcore_error_reason(const billcore_error* error);

/** Name of a reason, such as "mismatch" for BILLCORE_REASON_MISMATCH; "none" for an unknown number. The text is
 * static. @since 0.1 */
BILLCORE_API const char* billcore_reason_name(billcore_reason reason);

/** Method of the failed request, such as "POST".  @since 0.1 */
BILLCORE_API billcore_str billcore_error_method(const billcore_error* error);

/** Percent-encoded path of the failed request, relative to the base URL.  @since 0.1 */
BILLCORE_API billcore_str billcore_error_path(const billcore_error* error);

/** Path of the JSON value that a BILLCORE_ERROR_DECODE, BILLCORE_ERROR_OUT_OF_RANGE or BILLCORE_ERROR_MISSING_FIELD is
 * about, such as "data.price"; empty when the error is about a whole answer.  @since 0.1 */
BILLCORE_API billcore_str billcore_error_field_path(const billcore_error* error);

/** True when a write was sent and its outcome is unknown. *unix_micros (unix_micros may be NULL) is the time when the
 * write was sent, or 0 when the function returns false. @since 0.1 */
BILLCORE_API bool billcore_error_attempted_at(const billcore_error* error, int64_t* unix_micros);

/** The transport failure that led to a BILLCORE_ERROR_OUTCOME_UNKNOWN, such as BILLCORE_ERROR_TIMEOUT; else
 * BILLCORE_OK.  @since 0.1 */
BILLCORE_API billcore_status billcore_error_cause(const billcore_error* error);

/** One-line message of the failure that billcore_error_cause returns.  @since 0.1 */
BILLCORE_API billcore_str billcore_error_cause_message(const billcore_error* error);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_ERROR_H */
