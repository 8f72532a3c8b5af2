/** @file
 * Webhook signatures: verify the raw bytes first, then parse. Conventions: billcore.h.
 *
 * This header and the library billcore-webhook are the whole webhook half; they need no HTTP stack. Pass the body
 * exactly as received, and the value of the signature header unchanged: {NULL, 0} when the request has none. Service
 * interface: Authentication; Events, Request headers.
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

/** Verifies the signature of a body without a handle; the body may have 1 MiB. A receiver that runs often keeps a
 * billcore_verifier instead. signature: value of the Service-Signature header, {NULL, 0} when missing. secret: the
 * endpoint's 32 bytes. Returns BILLCORE_OK for a right signature, BILLCORE_ERROR_SIGNATURE with a reason
 * (billcore_error_reason) for any other, BILLCORE_ERROR_CONFIG for a secret of another length.  Threads: any.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_webhook_verify(billcore_str body, billcore_str signature, billcore_str secret,
                                                     billcore_error** err);

/** Verifies as billcore_webhook_verify, then parses a copy of the body: BILLCORE_ERROR_DECODE when it is not an
 * event. New; free it with billcore_event_free.  Threads: any.  @since 0.1 */
BILLCORE_API billcore_status billcore_webhook_unwrap(billcore_str body, billcore_str signature, billcore_str secret,
                                                     billcore_event** out, billcore_error** err);

/** Parses an event whose bytes the receiver verified and stored (billcore_event_raw), such as one from a job queue. The
 * function checks no signature and no age. Use it only for storage that the receiver alone can write to; for bytes from
 * the network use billcore_webhook_unwrap. Copies the bytes; BILLCORE_ERROR_DECODE when they are not an event. New;
 * free it with billcore_event_free.  Threads: any.  @since 0.1 */
BILLCORE_API billcore_status billcore_webhook_parse_unverified(billcore_str raw, billcore_event** out,
                                                               billcore_error** err);

/** The signature that the service would send, 64 lowercase hex digits, for tests of your receiver.
 * BILLCORE_ERROR_CONFIG for a secret that is not 32 bytes long. Free *out with billcore_buf_free.  Threads: any.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_webhook_sign(billcore_str body, billcore_str secret, billcore_buf* out,
                                                   billcore_error** err);

/** Options of a verifier. Freed with billcore_verifier_options_free. Threads: one thread at a time. */
typedef struct billcore_verifier_options billcore_verifier_options;

/** New options of a verifier, with nothing set; free them.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_options_new(billcore_verifier_options** out, billcore_error** err);

/** Name of the signature header, whose case does not matter. Default: Service-Signature.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_options_set_header(billcore_verifier_options* options, billcore_str name,
                                                                  billcore_error** err);

/** Largest body that is accepted (bytes); larger ones are refused before they are hashed. Default: 1 MiB.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_options_set_max_body(billcore_verifier_options* options, size_t bytes,
                                                                    billcore_error** err);

/** Refuses, with BILLCORE_REASON_STALE, events whose signed created_at is further than this time from now, before or
 * after, or cannot be read (milliseconds, more than 0). Off by default, because old events are legitimate: failed
 * deliveries are retried, invoices are paid weeks later. Freshness does not prevent replays: for that, drop events
 * whose account and id were seen before. test.hook is never stale.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_options_set_freshness_ms(billcore_verifier_options* options,
                                                                        int64_t milliseconds, billcore_error** err);

/** A clock: returns the time in microseconds since 1970-01-01T00:00:00Z. Called on the thread that verifies. */
typedef int64_t (*billcore_clock)(void* context);

/** Clock for the check of freshness. The clock gets `context`, which `release` (may be NULL) releases. NULL, the
 * default, is the system's clock.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_options_set_clock(billcore_verifier_options* options,
                                                                 billcore_clock clock, void* context,
                                                                 billcore_release release, billcore_error** err);

/** Accepts secrets of any length but zero. Only for test vectors and other services' keys: this service's secrets have
 * 32 bytes, and another length means a copying mistake.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_options_allow_any_key_length(billcore_verifier_options* options,
                                                                            billcore_error** err);

/** Adds a secret, such as while an old one is being replaced. Copied; if it is not 32 bytes long, billcore_verifier_new
 * returns BILLCORE_ERROR_CONFIG.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_options_add_secret(billcore_verifier_options* options,
                                                                  billcore_str secret, billcore_error** err);

/** Frees options; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_verifier_options_free(billcore_verifier_options* options);

/** Explains why a signature is refused. The function tries common mistakes offline (the body re-serialised, still in
 * base64, with another line end; the signature in upper case or with a prefix; a secret with white space, in another
 * encoding, another of several) and names the one that would match. *out is a text of a few lines for a person: it
 * never accepts a signature, and shows neither a secret nor the right signature. Slow: do not call it for every
 * request. secret: {NULL, 0} for none. options may be NULL; its secrets follow `secret`. Wrong lengths and a missing
 * secret are also explained. Free *out with billcore_buf_free.  Threads: any.  @since 0.1 */
BILLCORE_API billcore_status billcore_webhook_explain(billcore_str body, billcore_str signature, billcore_str secret,
                                                      const billcore_verifier_options* options, billcore_buf* out,
                                                      billcore_error** err);

/** A verifier with the keys of an endpoint, prepared once. Freed with billcore_verifier_free. Threads: shared. */
typedef struct billcore_verifier billcore_verifier;

/** A new verifier; free it. secret: the endpoint's 32 bytes, else BILLCORE_ERROR_CONFIG; {NULL, 0} to use only the
 * secrets of the options. options may be NULL; its secrets follow `secret`.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_new(billcore_str secret, const billcore_verifier_options* options,
                                                   billcore_verifier** out, billcore_error** err);

/** Verifies the signature of a body, without copying or parsing it. secret_index (may be NULL): index of the first
 * secret that matched; all are compared, in constant time. Returns the same statuses as billcore_webhook_verify.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_verify(const billcore_verifier* verifier, billcore_str body,
                                                      billcore_str signature, size_t* secret_index,
                                                      billcore_error** err);

/** Verifies the signature of a body, then parses a copy of the body: BILLCORE_ERROR_DECODE when it is not an event.
 * New; free it.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_unwrap(const billcore_verifier* verifier, billcore_str body,
                                                      billcore_str signature, billcore_event** out,
                                                      billcore_error** err);

/** The header fields of a request. Freed with billcore_headers_free. Threads: one thread at a time while they are
 * filled, then immutable. */
typedef struct billcore_headers billcore_headers;

/** New, empty header fields; free them.  @since 0.1 */
BILLCORE_API billcore_status billcore_headers_new(billcore_headers** out, billcore_error** err);

/** Adds a header field; a name may be added several times. Copied.  @since 0.1 */
BILLCORE_API billcore_status billcore_headers_add(billcore_headers* headers, billcore_str name, billcore_str value,
                                                  billcore_error** err);

/** Frees headers; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_headers_free(billcore_headers* headers);

/** As billcore_verifier_unwrap, but finds the signature among a request's header fields; the case of names does not
 * matter. Equal values, repeated or joined by commas, count as one; different values are malformed. (The other
 * functions take one value and do not split it.) headers may be NULL: none.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_unwrap_request(const billcore_verifier* verifier, billcore_str body,
                                                              const billcore_headers* headers, billcore_event** out,
                                                              billcore_error** err);

/** Number of secrets of a verifier; 0 for NULL.  @since 0.1 */
BILLCORE_API size_t billcore_verifier_secret_count(const billcore_verifier* verifier);

/** Number of signatures that matched this secret (counted from 0, in the order given): a secret that stays at 0 can be
 * retired. BILLCORE_ERROR_INVALID_ARGUMENT when there is no such secret.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_matches(const billcore_verifier* verifier, size_t secret_index,
                                                       uint64_t* out, billcore_error** err);

/** Frees a verifier; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_verifier_free(billcore_verifier* verifier);

/** The check of one body that is received in pieces and too large to hold in memory; the pieces are not kept. Freed
 * with billcore_verifier_stream_free. Threads: one thread at a time. */
typedef struct billcore_verifier_stream billcore_verifier_stream;

/** A new stream; free it. BILLCORE_ERROR_CONFIG for a verifier with freshness, which needs the whole body.
 * @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_stream_new(const billcore_verifier* verifier,
                                                          billcore_verifier_stream** out, billcore_error** err);

/** Adds the next piece of the body. BILLCORE_ERROR_SIGNATURE, with BILLCORE_REASON_BODY_TOO_LARGE, when the pieces
 * together are over the limit.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_stream_update(billcore_verifier_stream* stream, billcore_str piece,
                                                             billcore_error** err);

/** Ends the body and checks its signature; status and secret_index (may be NULL) as billcore_verifier_verify. Use no
 * piece before this function has returned BILLCORE_OK. Any further call but _free returns
 * BILLCORE_ERROR_INVALID_ARGUMENT.  @since 0.1 */
BILLCORE_API billcore_status billcore_verifier_stream_finish(billcore_verifier_stream* stream, billcore_str signature,
                                                             size_t* secret_index, billcore_error** err);

/** Frees a stream, finished or not; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_verifier_stream_free(billcore_verifier_stream* stream);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_WEBHOOK_H */
