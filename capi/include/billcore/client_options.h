/** @file
 * Options of a client. Conventions: billcore.h; what all options share: billcore/options.h.
 *
 * @code{.c}
 * billcore_client_options* options = NULL;
 * billcore_client* client = NULL;
 * billcore_error* err = NULL;
 * billcore_status status = billcore_client_options_new(&options, &err);
 * if (status == BILLCORE_OK) status = billcore_client_options_set_timeout_ms(options, 10000, &err);
 * if (status == BILLCORE_OK) status = billcore_client_options_set_max_retries(options, 0, &err);
 * if (status == BILLCORE_OK) status = billcore_client_new(options, &client, &err);
 * if (status != BILLCORE_OK) fprintf(stderr, "%s\n", billcore_error_message(err).data);
 * billcore_client_options_free(options);
 * billcore_client_free(client);
 * billcore_error_free(err);
 * @endcode
 */
#ifndef BILLCORE_CLIENT_OPTIONS_H
#define BILLCORE_CLIENT_OPTIONS_H

#include "billcore/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How a client reaches the service. Values are checked by billcore_client_new. Freed with
 * billcore_client_options_free. Threads: one thread at a time. */
typedef struct billcore_client_options billcore_client_options;

/** Nothing set yet. New; free it.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_options_new(billcore_client_options** out, billcore_error** err) {
  billcore_options* made = NULL;
  const billcore_status status = billcore_options_new(BILLCORE_OPTIONS_OF_CLIENT, out == NULL ? NULL : &made, err);
  if (out != NULL) *out = BILLCORE_CAST(billcore_client_options*, made);
  return status;
}

/** Address of the service up to and including the account segment, with or without a slash at its end; https, or http
 * on loopback. Not set or empty: the environment variable BILLCORE_BASE_URL.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_options_set_base_url(billcore_client_options* options, billcore_str url,
                                                                     billcore_error** err) {
  return billcore_options_set_text(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("base_url"), url, err);
}

/** Not set or empty: the environment variable BILLCORE_API_KEY. Service interface: Authentication.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_options_set_api_key(billcore_client_options* options, billcore_str key,
                                                                    billcore_error** err) {
  return billcore_options_set_text(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("api_key"), key, err);
}

/** One budget for a whole call: DNS, connect, TLS, all attempts and the waits between them (milliseconds, more than 0).
 * Default: 30,000.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_options_set_timeout_ms(billcore_client_options* options,
                                                                       int64_t milliseconds, billcore_error** err) {
  return billcore_options_set_int64(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("timeout_ms"), milliseconds,
                                    err);
}

/** No deadline.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_options_set_no_timeout(billcore_client_options* options,
                                                                       billcore_error** err) {
  return billcore_options_set_bool(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("no_timeout"), true, err);
}

/** Further attempts of a call, where one is safe: of a GET when no connection was made, the answer broke off, or its
 * status is 408, 429 or 5xx; of a write only when nothing of it was sent. 0: exactly one send. Default: 2.
 *  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_options_set_max_retries(billcore_client_options* options,
                                                                        int32_t max_retries, billcore_error** err) {
  return billcore_options_set_int64(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("max_retries"), max_retries,
                                    err);
}

/** Pages of a list that are requested at once, at least 1 (one page after the other); fewer after a 429. Default: 8.
 *  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_options_set_concurrency(billcore_client_options* options, int32_t pages,
                                                                        billcore_error** err) {
  return billcore_options_set_int64(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("concurrency"), pages, err);
}

/** URL of a proxy, such as http://user:password@proxy.example:3128 (http, https, socks4, socks4a, socks5, socks5h). Default:
 * what the environment says (HTTPS_PROXY, ALL_PROXY, NO_PROXY), but never for a base URL on loopback.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_options_set_proxy(billcore_client_options* options, billcore_str url,
                                                                  billcore_error** err) {
  return billcore_options_set_text(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("proxy"), url, err);
}

/** No proxy, whatever the environment says.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_options_set_no_proxy(billcore_client_options* options,
                                                                     billcore_error** err) {
  return billcore_options_set_bool(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("no_proxy"), true, err);
}

/** File of PEM certificates to trust. Default: $SSL_CERT_FILE or $SSL_CERT_DIR, else the system's.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_options_set_ca_bundle(billcore_client_options* options,
                                                                      billcore_str file, billcore_error** err) {
  return billcore_options_set_text(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("ca_bundle"), file, err);
}

/** File of PEM with a certificate, those above it, and its key without a password: shown to a service that asks for
 * one. Default: none.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_options_set_client_certificate(billcore_client_options* options,
                                                                               billcore_str file,
                                                                               billcore_error** err) {
  return billcore_options_set_text(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("client_certificate"), file,
                                   err);
}

/** A header field to send with every request; a User-Agent is appended to the client's own.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_options_add_header(billcore_client_options* options, billcore_str name,
                                                                   billcore_str value, billcore_error** err) {
  return billcore_options_add(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("headers"), name, value, err);
}

/** Offer HTTP/2, whatever the libcurl in use. Default: offered where that libcurl ends a call in time although the
 * other side floods it with small frames; that of Debian 12 does not.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_options_enable_http2(billcore_client_options* options,
                                                                     billcore_error** err) {
  return billcore_options_set_bool(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("http2"), true, err);
}

/** HTTP/1.1 only.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_options_disable_http2(billcore_client_options* options,
                                                                      billcore_error** err) {
  return billcore_options_set_bool(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("http2"), false, err);
}

/** Allow http to hosts that are not loopback: the API key travels in the clear.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_options_allow_insecure_http(billcore_client_options* options,
                                                                            billcore_error** err) {
  return billcore_options_set_bool(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("allow_insecure_http"), true,
                                   err);
}

/** Header of an answer whose value is shown as the request id. Default: X-Request-Id.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_options_set_request_id_header(billcore_client_options* options,
                                                                              billcore_str name, billcore_error** err) {
  return billcore_options_set_text(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("request_id_header"), name,
                                   err);
}

/** Larger answers are refused (bytes, more than 0). Default: 64 MiB.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_options_set_max_response(billcore_client_options* options, size_t bytes,
                                                                         billcore_error** err) {
  const uint64_t wide = bytes; /* where size_t has 32 bits the comparison would be one that compilers warn about */
  return billcore_options_set_int64(BILLCORE_CAST(billcore_options*, options), BILLCORE_STR("max_response"),
                                    wide > INT64_MAX ? INT64_MAX : BILLCORE_INT64(wide), err);
}

/** `context` is handed to the callback; both must live as long as the client. A NULL callback removes it.
 *  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_options_set_interrupt(billcore_client_options* options,
                                                                      billcore_interrupt callback, void* context,
                                                                      billcore_error** err) {
  return billcore_options_set_interrupt(BILLCORE_CAST(billcore_options*, options), callback, context, err);
}

/** Told of every attempt of every call. `context` is handed to the hook; both must live as long as the client and its
 * lists. A NULL hook removes it.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_options_set_hook(billcore_client_options* options, billcore_hook hook,
                                                                 void* context, billcore_error** err) {
  return billcore_options_set_hook(BILLCORE_CAST(billcore_options*, options), hook, context, err);
}

/** Frees options; accepts NULL.  @since 0.1 */
BILLCORE_INLINE_VOID void billcore_client_options_free(billcore_client_options* options) {
  billcore_options_free(BILLCORE_CAST(billcore_options*, options));
}

/** What billcore_client_with_options changes; what is not set stays. Freed with billcore_client_changes_free.
 * Threads: one thread at a time while it is filled, then immutable. */
typedef struct billcore_client_changes billcore_client_changes;

/** Nothing set yet. New; free it.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_changes_new(billcore_client_changes** out, billcore_error** err) {
  billcore_options* made = NULL;
  const billcore_status status = billcore_options_new(BILLCORE_OPTIONS_OF_CHANGES, out == NULL ? NULL : &made, err);
  if (out != NULL) *out = BILLCORE_CAST(billcore_client_changes*, made);
  return status;
}

/** As billcore_client_options_set_timeout_ms.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_changes_set_timeout_ms(billcore_client_changes* changes,
                                                                       int64_t milliseconds, billcore_error** err) {
  return billcore_options_set_int64(BILLCORE_CAST(billcore_options*, changes), BILLCORE_STR("timeout_ms"), milliseconds,
                                    err);
}

/** No deadline.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_changes_set_no_timeout(billcore_client_changes* changes,
                                                                       billcore_error** err) {
  return billcore_options_set_bool(BILLCORE_CAST(billcore_options*, changes), BILLCORE_STR("no_timeout"), true, err);
}

/** As billcore_client_options_set_max_retries.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_changes_set_max_retries(billcore_client_changes* changes,
                                                                        int32_t max_retries, billcore_error** err) {
  return billcore_options_set_int64(BILLCORE_CAST(billcore_options*, changes), BILLCORE_STR("max_retries"), max_retries,
                                    err);
}

/** As billcore_client_options_set_concurrency.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_changes_set_concurrency(billcore_client_changes* changes, int32_t pages,
                                                                        billcore_error** err) {
  return billcore_options_set_int64(BILLCORE_CAST(billcore_options*, changes), BILLCORE_STR("concurrency"), pages, err);
}

/** A header field; those added here take the place of all that the client had.  @since 0.1 */
BILLCORE_INLINE billcore_status billcore_client_changes_add_header(billcore_client_changes* changes, billcore_str name,
                                                                   billcore_str value, billcore_error** err) {
  return billcore_options_add(BILLCORE_CAST(billcore_options*, changes), BILLCORE_STR("headers"), name, value, err);
}

/** Frees changes; accepts NULL.  @since 0.1 */
BILLCORE_INLINE_VOID void billcore_client_changes_free(billcore_client_changes* options) {
  billcore_options_free(BILLCORE_CAST(billcore_options*, options));
}

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_CLIENT_OPTIONS_H */
