/* Wrappers of libbillcore-webhook for cgo; each wrapper returns a struct. */
#ifndef BILLCORE_GO_WEBHOOK_H
#define BILLCORE_GO_WEBHOOK_H

#include <billcore/webhook.h>

#include "native.h"

typedef struct bw_index {
  uint64_t index;
  billcore_error* err;
  billcore_status status;
} bw_index;

typedef struct bw_text {
  billcore_buf text;
  billcore_error* err;
  billcore_status status;
} bw_text;

BG_NEW(billcore_verifier_options, bw_options, (void), billcore_verifier_options_new(&out, &made.err))
BG_CALL(bw_add_secret, (billcore_verifier_options * to, const char* data, size_t len),
        billcore_verifier_options_add_secret(to, bg_str(data, len), &made.err))
BG_CALL(bw_add_account, (billcore_verifier_options * to, const char* data, size_t len),
        billcore_verifier_options_add_account(to, bg_str(data, len), &made.err))
BG_CALL(bw_set_header, (billcore_verifier_options * to, const char* data, size_t len),
        billcore_verifier_options_set_header(to, bg_str(data, len), &made.err))
BG_CALL(bw_set_max_body, (billcore_verifier_options * to, size_t bytes),
        billcore_verifier_options_set_max_body(to, bytes, &made.err))
BG_CALL(bw_set_freshness, (billcore_verifier_options * to, int64_t milliseconds),
        billcore_verifier_options_set_freshness_ms(to, milliseconds, &made.err))
BG_CALL(bw_any_length, (billcore_verifier_options * to), billcore_verifier_options_allow_any_key_length(to, &made.err))
int64_t billcoreGoClock(void* clock); /* clock.go */
BG_CALL(bw_set_clock, (billcore_verifier_options * to, uintptr_t clock),
        billcore_verifier_options_set_clock(to, billcoreGoClock, (void*)clock, NULL, &made.err))
BG_NEW(billcore_verifier, bw_verifier, (const char* secret, size_t len, const billcore_verifier_options* options),
       billcore_verifier_new(bg_str(secret, len), options, &out, &made.err))
static bw_index bw_verify(uintptr_t verifier, const char* body, size_t len, const char* signature,
                          size_t signature_len) {
  bw_index made = {0, NULL, BILLCORE_OK};
  size_t index = 0;
  made.status = billcore_verifier_verify((const billcore_verifier*)verifier, bg_str(body, len),
                                         bg_str(signature, signature_len), &index, &made.err);
  made.index = index;
  return made;
}
static bg_head bw_unwrap(uintptr_t verifier, const char* body, size_t len, const char* signature,
                         size_t signature_len) {
  billcore_event* event = NULL;
  billcore_error* err = NULL;
  const billcore_status status = billcore_verifier_unwrap((const billcore_verifier*)verifier, bg_str(body, len),
                                                          bg_str(signature, signature_len), &event, &err);
  return bg_event_head(status, event, err);
}
BG_NEW(billcore_headers, bw_headers, (void), billcore_headers_new(&out, &made.err))
BG_CALL(bw_add_header, (billcore_headers * to, const char* name, size_t name_len, const char* value, size_t len),
        billcore_headers_add(to, bg_str(name, name_len), bg_str(value, len), &made.err))
static bg_head bw_unwrap_request(uintptr_t verifier, const char* body, size_t len, const billcore_headers* headers) {
  billcore_event* event = NULL;
  billcore_error* err = NULL;
  const billcore_status status =
      billcore_verifier_unwrap_request((const billcore_verifier*)verifier, bg_str(body, len), headers, &event, &err);
  return bg_event_head(status, event, err);
}
static bw_index bw_matches(const billcore_verifier* verifier, size_t secret) {
  bw_index made = {0, NULL, BILLCORE_OK};
  made.status = billcore_verifier_matches(verifier, secret, &made.index, &made.err);
  return made;
}
static bw_text bw_sign(const char* body, size_t len, const char* secret, size_t secret_len) {
  bw_text made = {{NULL, 0}, NULL, BILLCORE_OK};
  made.status = billcore_webhook_sign(bg_str(body, len), bg_str(secret, secret_len), &made.text, &made.err);
  return made;
}
static bw_text bw_explain(const char* body, size_t len, const char* signature, size_t signature_len,
                          const billcore_headers* headers, const billcore_verifier_options* options) {
  bw_text made = {{NULL, 0}, NULL, BILLCORE_OK};
  made.status = billcore_webhook_explain_with_headers(bg_str(body, len), bg_str(signature, signature_len), headers,
                                                      bg_str(NULL, 0), options, &made.text, &made.err);
  return made;
}
BG_NEW(billcore_verifier_stream, bw_stream, (const billcore_verifier* verifier),
       billcore_verifier_stream_new(verifier, &out, &made.err))
BG_CALL(bw_update, (billcore_verifier_stream * stream, const char* piece, size_t len),
        billcore_verifier_stream_update(stream, bg_str(piece, len), &made.err))
static bw_index bw_finish(billcore_verifier_stream* stream, const char* signature, size_t len) {
  bw_index made = {0, NULL, BILLCORE_OK};
  size_t index = 0;
  made.status = billcore_verifier_stream_finish(stream, bg_str(signature, len), &index, &made.err);
  made.index = index;
  return made;
}

#endif
