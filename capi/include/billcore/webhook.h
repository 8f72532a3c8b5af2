/** @file
 * Webhook signatures: verify the raw bytes first, then parse. Conventions: billcore.h.
 *
 * This header and the library billcore-webhook are the whole webhook half; they need no HTTP stack. Pass the body
 * exactly as it was received and the signature header as it is: {NULL, 0} when the request has none. Service interface:
 * Authentication; Events, Request headers.
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

/** Is the signature right for this body? One shot: no handle, the default limit of 1 MiB for the body.
 *  signature: value of the Service-Signature header, {NULL, 0} when missing. secret: the endpoint's 32 bytes.
 *  BILLCORE_OK; BILLCORE_ERROR_SIGNATURE with a reason (billcore_error_reason); BILLCORE_ERROR_CONFIG for a secret
 * of another length. A receiver that runs often keeps a billcore_verifier.  Threads: any.  @since 0.1 */
BILLCORE_API billcore_status billcore_webhook_verify(billcore_str body, billcore_str signature, billcore_str secret,
                                                     billcore_error** err);

/** Verifies as billcore_webhook_verify, then parses a copy of the body: BILLCORE_ERROR_DECODE when it is not an
 * event. New; free it with billcore_event_free.  Threads: any.  @since 0.1 */
BILLCORE_API billcore_status billcore_webhook_unwrap(billcore_str body, billcore_str signature, billcore_str secret,
                                                     billcore_event** out, billcore_error** err);

/** An event from bytes that were verified before and stored since, such as those of a job queue: billcore_event_raw
 * of the receiver. It checks no signature and no age. Use it only where the receiver alone can write; what comes
 * over the network goes through billcore_webhook_unwrap. Copies the bytes; BILLCORE_ERROR_DECODE when they are not
 * an event. New; free it with billcore_event_free.  Threads: any.  @since 0.1 */
BILLCORE_API billcore_status billcore_webhook_parse_unverified(billcore_str raw, billcore_event** out,
                                                               billcore_error** err);

/** The signature the service would send, 64 lowercase hex digits: to test your own receiver. BILLCORE_ERROR_CONFIG
 * for a secret that has not 32 bytes. Free *out with billcore_buf_free.  Threads: any.  @since 0.1 */
BILLCORE_API billcore_status billcore_webhook_sign(billcore_str body, billcore_str secret, billcore_buf* out,
                                                   billcore_error** err);

/** How a verifier works. Freed with billcore_verifier_options_free. Threads: one thread at a time. */
typedef struct billcore_verifier_options billcore_verifier_options;

/** Nothing set yet. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_options_new(billcore_verifier_options** out, billcore_error** err);

/** Name of the signature header, looked up without regard to case. Default: Service-Signature.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_options_set_header(billcore_verifier_options* options, billcore_str name,
                                                                  billcore_error** err);

/** Larger bodies are refused before they are hashed (bytes). Default: 1 MiB.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_options_set_max_body(billcore_verifier_options* options, size_t bytes,
                                                                    billcore_error** err);

/** Refuse events whose signed created_at is further than this from now, before or after, or cannot be read:
 * BILLCORE_REASON_STALE (milliseconds, more than 0). Off by default, because old events are legitimate: failed
 * deliveries are retried, invoices are paid weeks later. It does not protect against replays: drop events by account
 * and id for that. test.hook is never stale.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_options_set_freshness_ms(billcore_verifier_options* options,
                                                                        int64_t milliseconds, billcore_error** err);

/** Tells the time: microseconds since 1970-01-01T00:00:00Z. Called on the thread that verifies. */
typedef int64_t (*billcore_clock)(void* context);

/** The clock that freshness goes by. It gets `context`, which `release` (may be NULL) releases. NULL, the default: the
 * system's clock.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_options_set_clock(billcore_verifier_options* options,
                                                                 billcore_clock clock, void* context,
                                                                 billcore_release release, billcore_error** err);

/** Accept secrets of any length but zero. For test vectors and foreign keys only: the service's secrets have 32 bytes,
 * and another length means a copying mistake.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_options_allow_any_key_length(billcore_verifier_options* options,
                                                                            billcore_error** err);

/** One more secret, while one is being replaced. Copied; 32 bytes, else billcore_verifier_new is BILLCORE_ERROR_CONFIG.
 *  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_options_add_secret(billcore_verifier_options* options,
                                                                  billcore_str secret, billcore_error** err);

/** Frees options; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_verifier_options_free(billcore_verifier_options* options);

/** Why is this signature refused? Tries offline what goes wrong in practice (the body re-serialised, still in
 * base64, with another line end; the signature in upper case or with a prefix; a secret with white space, in another
 * encoding, another of several) and names what would have matched. The text, a few lines for a person, is all it
 * gives: it never accepts and shows neither a secret nor the right signature. Slow: does not belong in a request path.
 *  secret: {NULL, 0} for none. options may be NULL; its secrets come after that one. Wrong lengths and a missing secret
 * are also explained. Free *out with billcore_buf_free.  Threads: any.  @since 0.1 */
BILLCORE_API billcore_status billcore_webhook_explain(billcore_str body, billcore_str signature, billcore_str secret,
                                                      const billcore_verifier_options* options, billcore_buf* out,
                                                      billcore_error** err);

/** The keys of an endpoint, prepared once. Freed with billcore_verifier_free. Threads: shared. */
typedef struct billcore_verifier billcore_verifier;

/** secret: the endpoint's 32 bytes, else BILLCORE_ERROR_CONFIG; {NULL, 0} for those of the options alone. options
 * may be NULL; its secrets come after this one. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_new(billcore_str secret, const billcore_verifier_options* options,
                                                   billcore_verifier** out, billcore_error** err);

/** Is the signature right for this body? Copies and parses nothing. secret_index (may be NULL): the first secret that
 * matched; all are compared, in constant time. Status as billcore_webhook_verify.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_verify(const billcore_verifier* verifier, billcore_str body,
                                                      billcore_str signature, size_t* secret_index,
                                                      billcore_error** err);

/** Verifies, then parses a copy of the body: BILLCORE_ERROR_DECODE when it is not an event. New; free it.
 *  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_unwrap(const billcore_verifier* verifier, billcore_str body,
                                                      billcore_str signature, billcore_event** out,
                                                      billcore_error** err);

/** The header fields of a request. Freed with billcore_headers_free. Threads: one thread at a time while they are
 * filled, then immutable. */
typedef struct billcore_headers billcore_headers;

/** None yet. New; free them.  @since 0.1 */
BILLCORE_API billcore_status billcore_headers_new(billcore_headers** out, billcore_error** err);

/** One field; a name may be added several times. Copied.  @since 0.1 */
BILLCORE_API billcore_status billcore_headers_add(billcore_headers* headers, billcore_str name, billcore_str value,
                                                  billcore_error** err);

/** Frees headers; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_headers_free(billcore_headers* headers);

/** The same as billcore_verifier_unwrap, finding the signature among a request's header fields; the case of names does
 * not matter. Equal values, repeated or joined by commas, are one; different ones are malformed. The other functions
 * take the value exactly as it is. headers may be NULL: none.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_unwrap_request(const billcore_verifier* verifier, billcore_str body,
                                                              const billcore_headers* headers, billcore_event** out,
                                                              billcore_error** err);

/** How many secrets it has; 0 for NULL.  @since 0.1 */
BILLCORE_API size_t billcore_verifier_secret_count(const billcore_verifier* verifier);

/** How often this secret (counted from 0, in the order given) was the one that matched: one that stays at 0 can be
 * retired. BILLCORE_ERROR_INVALID_ARGUMENT when there is no such secret.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_matches(const billcore_verifier* verifier, size_t secret_index,
                                                       uint64_t* out, billcore_error** err);

/** Frees a verifier; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_verifier_free(billcore_verifier* verifier);

/** A check of one body that comes in pieces and is too large to hold; it keeps none of them. Freed with
 * billcore_verifier_stream_free. Threads: one thread at a time. */
typedef struct billcore_verifier_stream billcore_verifier_stream;

/** BILLCORE_ERROR_CONFIG for a verifier with freshness, which needs the whole body. New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_stream_new(const billcore_verifier* verifier,
                                                          billcore_verifier_stream** out, billcore_error** err);

/** The next piece. BILLCORE_ERROR_SIGNATURE, reason body too large, when all of them are over the limit.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_stream_update(billcore_verifier_stream* stream, billcore_str piece,
                                                             billcore_error** err);

/** The end of the body: status and secret_index (may be NULL) as billcore_verifier_verify. Use nothing of the pieces
 * before it is BILLCORE_OK. Ends the stream: any further call but _free is BILLCORE_ERROR_INVALID_ARGUMENT.
 *  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_stream_finish(billcore_verifier_stream* stream, billcore_str signature,
                                                             size_t* secret_index, billcore_error** err);

/** Frees a stream, finished or not; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_verifier_stream_free(billcore_verifier_stream* stream);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_WEBHOOK_H */
