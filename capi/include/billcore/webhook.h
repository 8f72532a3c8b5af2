/** @file
 * Webhook signatures: verify the raw bytes first, then parse. Conventions: billcore.h.
 *
 * A webhook receiver needs only this header and the library billcore-webhook, which does not link an HTTP client. Pass
 * the body exactly as received, and the value of the signature header unchanged: {NULL, 0} when the request has none.
 * Service interface: Authentication; Events, Request headers.
 *
 * @code{.c}
 * billcore_event* event = NULL;
 * billcore_error* err = NULL;
 * billcore_status status = billcore_webhook_unwrap(body, signature, secret, &event, &err);
 * int32_t answer = status == BILLCORE_OK ? 200 : 500;  // 500: signed, but not an event
 * if (status == BILLCORE_ERROR_SIGNATURE) answer = billcore_error_http_status(err);
 * printf("answer %" PRId32 ": %s\n", answer, billcore_error_message(err).data);
 * billcore_event_free(event);
 * billcore_error_free(err);
 * @endcode
 */
#ifndef BILLCORE_WEBHOOK_H
#define BILLCORE_WEBHOOK_H

#include "billcore/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Verifies the signature of a body of at most 1 MiB without a billcore_verifier. To verify many webhooks, make one
 * billcore_verifier and reuse it. `signature` is the value of the Service-Signature header, or {NULL, 0} when the
 * request has none. `secret` is the endpoint's secret, 32 bytes. Returns BILLCORE_OK for a valid signature. An invalid
 * or missing signature gives BILLCORE_ERROR_SIGNATURE with a reason (billcore_error_reason); a secret that is not 32
 * bytes long gives BILLCORE_ERROR_CONFIG. Threads: any.  @since 0.1 */
BILLCORE_API billcore_status billcore_webhook_verify(billcore_str body, billcore_str signature, billcore_str secret,
                                                     billcore_error** err);

/** Verifies the signature as billcore_webhook_verify does, then parses a copy of the body. BILLCORE_ERROR_DECODE when
 * the body is not an event. The caller frees *out with billcore_event_free. Threads: any.  @since 0.1 */
BILLCORE_API billcore_status billcore_webhook_unwrap(billcore_str body, billcore_str signature, billcore_str secret,
                                                     billcore_event** out, billcore_error** err);

/** Parses an event that was verified earlier and then stored, for example in a job queue. `raw` is the text that
 * billcore_event_raw returned. This function checks neither the signature nor the age of the event, so use it only for
 * storage that the receiver alone can write to; for bytes from the network use billcore_webhook_unwrap. The function
 * copies the bytes; BILLCORE_ERROR_DECODE when they are not an event. The caller frees *out with billcore_event_free.
 * Threads: any.  @since 0.1 */
BILLCORE_API billcore_status billcore_webhook_parse_unverified(billcore_str raw, billcore_event** out,
                                                               billcore_error** err);

/** Computes the signature that the service would send (64 lowercase hex digits), so that you can test your receiver.
 * BILLCORE_ERROR_CONFIG for a secret that is not 32 bytes long. The caller frees *out with billcore_buf_free.
 * Threads: any.  @since 0.1 */
BILLCORE_API billcore_status billcore_webhook_sign(billcore_str body, billcore_str secret, billcore_buf* out,
                                                   billcore_error** err);

/** Options of a verifier. Freed with billcore_verifier_options_free. Threads: one thread at a time. */
typedef struct billcore_verifier_options billcore_verifier_options;

/** Makes the options of a verifier, with no option set. The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_options_new(billcore_verifier_options** out, billcore_error** err);

/** Name of the signature header (case-insensitive). Default: Service-Signature.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_options_set_header(billcore_verifier_options* options, billcore_str name,
                                                                  billcore_error** err);

/** Size (bytes) of the largest body that the verifier accepts; the verifier refuses a larger body before it hashes any
 * of the body. Default: 1 MiB.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_options_set_max_body(billcore_verifier_options* options, size_t bytes,
                                                                    billcore_error** err);

/** Makes the verifier refuse, with BILLCORE_REASON_STALE, an event whose signed created_at cannot be read, or is more
 * than `milliseconds` (more than 0) before or after the present time. The check is off by default, because old events
 * are legitimate: the service may retry a failed delivery much later. The check does not prevent replays: to prevent
 * replays, drop events whose account and id you have already received. The verifier never refuses a test.hook event as
 * stale. @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_options_set_freshness_ms(billcore_verifier_options* options,
                                                                        int64_t milliseconds, billcore_error** err);

/** A clock that returns the time in microseconds since 1970-01-01T00:00:00Z. The library calls the clock on the thread
 * that verifies. */
typedef int64_t (*billcore_clock)(void* context);

/** Sets the clock for the check of billcore_verifier_options_set_freshness_ms. The library passes `context` to the
 * clock, and calls `release` (may be NULL) when it no longer needs `context`. NULL, the default, means the system's
 * clock.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_options_set_clock(billcore_verifier_options* options,
                                                                 billcore_clock clock, void* context,
                                                                 billcore_release release, billcore_error** err);

/** Accepts secrets of any length except 0. Use this option only for test vectors and for keys of other services: the
 * billing service's secrets have 32 bytes, so another length means that the secret was copied wrongly.  @since 0.1
 */
BILLCORE_API billcore_status billcore_verifier_options_allow_any_key_length(billcore_verifier_options* options,
                                                                            billcore_error** err);

/** Adds a copy of a secret, for a period in which an old and a new secret are both in use. For a secret that is not 32
 * bytes long, billcore_verifier_new returns BILLCORE_ERROR_CONFIG.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_options_add_secret(billcore_verifier_options* options,
                                                                  billcore_str secret, billcore_error** err);

/** Begins an account: the secrets that billcore_verifier_options_add_secret adds from now on, until the next account
 * begins, are secrets of `account`. `account` is the account's integer id, as events have it, as text. Use this
 * function for an endpoint to which several accounts deliver, so that nobody can sign another account's events. The
 * verifier accepts an event only if the matching secret belongs to the account that the signed body names; otherwise,
 * or if the body names no account, it refuses the event with BILLCORE_REASON_MISMATCH. A test.hook event matches any
 * secret, because only its name is reliable. billcore_verifier_verify and billcore_verifier_stream_new, which do not
 * parse the body, return BILLCORE_ERROR_CONFIG: call billcore_verifier_unwrap. Two accounts may have the same secret.
 * billcore_verifier_new returns BILLCORE_ERROR_CONFIG for an account that is empty or has no secret, and for a secret
 * without an account, or after billcore_verifier_options_allow_any_key_length.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_options_add_account(billcore_verifier_options* options,
                                                                   billcore_str account, billcore_error** err);

/** Frees options; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_verifier_options_free(billcore_verifier_options* options);

/** Explains why a signature is refused. The function tries common mistakes offline and names the mistake that would
 * give this signature: the body re-serialised, still in base64 or with other line ends; the signature in upper case or
 * with a prefix; the secret with white space, in another encoding, or confused with another secret of the list. *out is
 * a text of a few lines for a person, which shows neither a secret nor the valid signature. The function is slow: do
 * not call it for every request. `secret` may be {NULL, 0} (missing); options may be NULL. The function tries the
 * secrets of the options after `secret`. The text also reports a secret that is missing or has the wrong length. The
 * caller frees *out with billcore_buf_free. Threads: any.  @since 0.1 */
BILLCORE_API billcore_status billcore_webhook_explain(billcore_str body, billcore_str signature, billcore_str secret,
                                                      const billcore_verifier_options* options, billcore_buf* out,
                                                      billcore_error** err);

/** A verifier, which checks signatures with the secrets of an endpoint. Freed with billcore_verifier_free. Threads:
 * shared. */
typedef struct billcore_verifier billcore_verifier;

/** Makes a verifier. `secret` is the endpoint's secret, 32 bytes (another length gives BILLCORE_ERROR_CONFIG), or
 * {NULL, 0} to use only the secrets of the options. options may be NULL. Secret indexes count from 0: first `secret`,
 * unless it is {NULL, 0}; then the secrets of the options, in the order in which they were added. The caller frees
 * *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_new(billcore_str secret, const billcore_verifier_options* options,
                                                   billcore_verifier** out, billcore_error** err);

/** Verifies the signature of a body, without copying or parsing it. *secret_index (secret_index may be NULL) is the
 * index of the first secret that matched; the function tries all secrets, in constant time. Returns the same statuses
 * as billcore_webhook_verify; BILLCORE_ERROR_CONFIG when the verifier is for accounts.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_verify(const billcore_verifier* verifier, billcore_str body,
                                                      billcore_str signature, size_t* secret_index,
                                                      billcore_error** err);

/** Verifies the signature of a body, then parses a copy of the body. BILLCORE_ERROR_DECODE when the body is not an
 * event. The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_unwrap(const billcore_verifier* verifier, billcore_str body,
                                                      billcore_str signature, billcore_event** out,
                                                      billcore_error** err);

/** The header fields of a request. Freed with billcore_headers_free. Threads: one thread at a time may add fields;
 * afterwards the object is immutable. */
typedef struct billcore_headers billcore_headers;

/** Makes an empty set of header fields. The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_headers_new(billcore_headers** out, billcore_error** err);

/** Adds a copy of a header field. The same name may be added several times.  @since 0.1 */
BILLCORE_API billcore_status billcore_headers_add(billcore_headers* headers, billcore_str name, billcore_str value,
                                                  billcore_error** err);

/** Frees headers; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_headers_free(billcore_headers* headers);

/** Finds the signature among a request's header fields (the case of names does not matter), then does the same as
 * billcore_verifier_unwrap. Several equal signatures, in repeated fields or joined by commas, count as one; different
 * signatures give BILLCORE_REASON_MALFORMED. (Functions with a parameter `signature` do not split its value at
 * commas.) headers may be NULL, which means no header fields.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_unwrap_request(const billcore_verifier* verifier, billcore_str body,
                                                              const billcore_headers* headers, billcore_event** out,
                                                              billcore_error** err);

/** As billcore_webhook_explain, but the function also looks at the request's header fields, and notices a body that a
 * proxy has unpacked (Content-Encoding). headers may be NULL, which means no header fields.  @since 0.1 */
BILLCORE_API billcore_status billcore_webhook_explain_with_headers(billcore_str body, billcore_str signature,
                                                                   const billcore_headers* headers, billcore_str secret,
                                                                   const billcore_verifier_options* options,
                                                                   billcore_buf* out, billcore_error** err);

/** Number of secrets of a verifier; 0 for NULL.  @since 0.1 */
BILLCORE_API size_t billcore_verifier_secret_count(const billcore_verifier* verifier);

/** Number of signatures that the secret with this index has matched; indexes count from 0, in the order of
 * billcore_verifier_new. You can retire a secret whose number of matches no longer grows.
 * BILLCORE_ERROR_INVALID_ARGUMENT when the verifier has no secret with this index. @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_matches(const billcore_verifier* verifier, size_t secret_index,
                                                       uint64_t* out, billcore_error** err);

/** Frees a verifier; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_verifier_free(billcore_verifier* verifier);

/** Verifies one body that arrives in pieces, for example because it is too large to hold in memory. The stream does
 * not keep the pieces. Freed with billcore_verifier_stream_free. Threads: one thread at a time. */
typedef struct billcore_verifier_stream billcore_verifier_stream;

/** Makes a stream. BILLCORE_ERROR_CONFIG when the verifier has the freshness check or is for accounts, because both
 * need the whole body. The caller frees *out.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_stream_new(const billcore_verifier* verifier,
                                                          billcore_verifier_stream** out, billcore_error** err);

/** Adds the next piece of the body. BILLCORE_ERROR_SIGNATURE, with BILLCORE_REASON_BODY_TOO_LARGE, when the pieces
 * together exceed the verifier's largest body.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_stream_update(billcore_verifier_stream* stream, billcore_str piece,
                                                             billcore_error** err);

/** Marks the end of the body and checks the signature; returns the same status as billcore_verifier_verify, and sets
 * *secret_index (secret_index may be NULL) as that function does. Do not use the pieces before this function has
 * returned BILLCORE_OK. Any further call with the stream, except billcore_verifier_stream_free, returns
 * BILLCORE_ERROR_INVALID_ARGUMENT.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_stream_finish(billcore_verifier_stream* stream, billcore_str signature,
                                                             size_t* secret_index, billcore_error** err);

/** Frees a stream, whether or not billcore_verifier_stream_finish was called; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_verifier_stream_free(billcore_verifier_stream* stream);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_WEBHOOK_H */
