/* The driver's operations on signatures and events. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "wire_driver.h"

static billcore_str signature_of(const job* self) { return bytes_of(yyjson_obj_get(self->args, "signature")); }

static yyjson_mut_val* sign(job* self, billcore_str body) {
  billcore_buf signature;
  if (!ok(billcore_webhook_sign(body, bytes_of(yyjson_obj_get(self->args, "secret")), &signature, &self->err)))
    return NULL;
  yyjson_mut_val* out = yyjson_mut_obj(self->reply);
  yyjson_mut_obj_add_strcpy(self->reply, out, "signature", signature.data);
  billcore_buf_free(&signature);
  return out;
}

static int64_t fixed_clock(void* now) { return *(const int64_t*)now; }

/* `now` must outlive the verifier. */
static bool set_verifier_options(billcore_verifier_options* to, yyjson_val* from, int64_t* now, billcore_error** err) {
  yyjson_val* freshness = yyjson_obj_get(from, "freshness");
  int64_t limit;
  if (arg_integer(from, "max_body", &limit) && !ok(billcore_verifier_options_set_max_body(to, (size_t)limit, err)))
    return false;
  if (yyjson_is_raw(freshness)) {
    const int64_t milliseconds = llround(strtod(yyjson_get_raw(freshness), NULL) * 1000);
    if (!ok(billcore_verifier_options_set_freshness_ms(to, milliseconds, err))) return false;
  }
  if (arg_integer(from, "now", now) && !ok(billcore_verifier_options_set_clock(to, fixed_clock, now, NULL, err)))
    return false;
  return !yyjson_is_true(yyjson_obj_get(from, "any_key_length")) ||
         ok(billcore_verifier_options_allow_any_key_length(to, err));
}

/* Adds the member `secrets`. */
static bool add_secrets(billcore_verifier_options* to, yyjson_val* from, billcore_error** err) {
  yyjson_arr_iter secrets = yyjson_arr_iter_with(yyjson_obj_get(from, "secrets"));
  bool added = true;
  for (yyjson_val* each; added && (each = yyjson_arr_iter_next(&secrets)) != NULL;) {
    added = ok(billcore_verifier_options_add_secret(to, bytes_of(each), err));
  }
  return added;
}

static bool add_accounts(billcore_verifier_options* to, yyjson_val* given, billcore_error** err) {
  yyjson_arr_iter accounts = yyjson_arr_iter_with(given);
  bool added = true;
  for (yyjson_val* each; added && (each = yyjson_arr_iter_next(&accounts)) != NULL;) {
    added = ok(billcore_verifier_options_add_account(to, text_of(yyjson_obj_get(each, "account")), err)) &&
            add_secrets(to, each, err);
  }
  return added;
}

static billcore_verifier* make_verifier(job* self, int64_t* now) {
  billcore_verifier_options* options = NULL;
  billcore_verifier* out = NULL;
  if (ok(billcore_verifier_options_new(&options, &self->err)) &&
      set_verifier_options(options, self->args, now, &self->err) && add_secrets(options, self->args, &self->err) &&
      add_accounts(options, yyjson_obj_get(self->args, "accounts"), &self->err) &&
      !ok(billcore_verifier_new((billcore_str){NULL, 0}, options, &out, &self->err)))
    out = NULL;
  billcore_verifier_options_free(options);
  return out;
}

static yyjson_mut_val* read_event(job* self, billcore_event* event, billcore_str body) {
  yyjson_mut_val* out = yyjson_mut_obj(self->reply);
  yyjson_mut_val* values = yyjson_mut_obj_add_obj(self->reply, out, "read");
  yyjson_arr_iter paths = yyjson_arr_iter_with(yyjson_obj_get(self->args, "read"));
  billcore_str raw;
  for (yyjson_val* path; (path = yyjson_arr_iter_next(&paths)) != NULL;) {
    const char* text = yyjson_get_str(path);
    yyjson_mut_obj_add_val(self->reply, values, text, read_path(self->reply, event, text));
  }
  const bool same = ok(billcore_event_raw(event, &raw, &self->err)) && raw.len == body.len &&
                    memcmp(raw.data, body.data, body.len) == 0;
  if (!same) self->problem = "billcore_event_raw is not the body";
  billcore_event_free(event);
  return same ? out : NULL;
}

static yyjson_mut_val* put_index(job* self, size_t index) {
  yyjson_mut_val* out = yyjson_mut_obj(self->reply);
  yyjson_mut_obj_add_uint(self->reply, out, "secret_index", index);
  return out;
}

static yyjson_mut_val* stream(job* self, const billcore_verifier* verifier, billcore_str body) {
  yyjson_arr_iter sizes = yyjson_arr_iter_with(yyjson_obj_get(self->args, "chunks"));
  billcore_verifier_stream* made = NULL;
  size_t index = 0;
  bool good = ok(billcore_verifier_stream_new(verifier, &made, &self->err));
  for (yyjson_val* size; good && (size = yyjson_arr_iter_next(&sizes)) != NULL;) {
    billcore_str piece = {body.data, (size_t)strtoull(yyjson_get_raw(size), NULL, 10)};
    if (piece.len > body.len) piece.len = body.len;
    good = ok(billcore_verifier_stream_update(made, piece, &self->err));
    body = (billcore_str){body.data + piece.len, body.len - piece.len};
  }
  good = good && ok(billcore_verifier_stream_update(made, body, &self->err)) &&
         ok(billcore_verifier_stream_finish(made, signature_of(self), &index, &self->err));
  billcore_verifier_stream_free(made);
  return good ? put_index(self, index) : NULL;
}

/* Makes *headers from the request; the caller frees it, even if the result is false. */
static bool make_headers(job* self, billcore_headers** headers) {
  yyjson_arr_iter fields = yyjson_arr_iter_with(yyjson_obj_get(self->args, "headers"));
  bool good = ok(billcore_headers_new(headers, &self->err));
  for (yyjson_val* field; good && (field = yyjson_arr_iter_next(&fields)) != NULL;) {
    const billcore_str value = bytes_of(yyjson_arr_get(field, 1));
    good = ok(billcore_headers_add(*headers, bytes_of(yyjson_arr_get(field, 0)), value, &self->err));
  }
  return good;
}

static yyjson_mut_val* unwrap_request(job* self, const billcore_verifier* verifier, billcore_str body) {
  billcore_headers* headers = NULL;
  billcore_event* event = NULL;
  const bool good =
      make_headers(self, &headers) && ok(billcore_verifier_unwrap_request(verifier, body, headers, &event, &self->err));
  billcore_headers_free(headers);
  return good ? read_event(self, event, body) : NULL;
}

static yyjson_mut_val* unwrap(job* self, const billcore_verifier* verifier, billcore_str body) {
  billcore_event* event = NULL;
  const bool good = ok(billcore_verifier_unwrap(verifier, body, signature_of(self), &event, &self->err));
  return good ? read_event(self, event, body) : NULL;
}

static yyjson_mut_val* verify(job* self, const billcore_verifier* verifier, billcore_str body) {
  size_t index = 0;
  const bool good = ok(billcore_verifier_verify(verifier, body, signature_of(self), &index, &self->err));
  return good ? put_index(self, index) : NULL;
}

/* Counts the matches of deliveries. The results of unwrap do not matter. */
static yyjson_mut_val* matches(job* self, const billcore_verifier* verifier, billcore_str unused) {
  yyjson_arr_iter deliveries = yyjson_arr_iter_with(yyjson_obj_get(self->args, "deliveries"));
  yyjson_mut_val* out = yyjson_mut_obj(self->reply);
  yyjson_mut_val* counts = yyjson_mut_obj_add_arr(self->reply, out, "matches");
  (void)unused;
  for (yyjson_val* delivery; (delivery = yyjson_arr_iter_next(&deliveries)) != NULL;) {
    const billcore_str body = base64_of(yyjson_obj_get(delivery, "body_b64"));
    billcore_event* event = NULL;
    if (ok(billcore_verifier_unwrap(verifier, body, bytes_of(yyjson_obj_get(delivery, "signature")), &event, NULL)))
      billcore_event_free(event);
  }
  for (size_t i = 0; i < billcore_verifier_secret_count(verifier); ++i) {
    uint64_t count = 0;
    if (!ok(billcore_verifier_matches(verifier, i, &count, &self->err))) return NULL;
    yyjson_mut_arr_add_uint(self->reply, counts, count);
  }
  return out;
}

static yyjson_mut_val* explain(job* self, billcore_str body) {
  const billcore_str none = {NULL, 0};
  billcore_verifier_options* options = NULL;
  billcore_headers* headers = NULL;
  billcore_buf text = {NULL, 0};
  yyjson_mut_val* out = NULL;
  if (ok(billcore_verifier_options_new(&options, &self->err)) && add_secrets(options, self->args, &self->err) &&
      make_headers(self, &headers) &&
      ok(billcore_webhook_explain_with_headers(body, signature_of(self), headers, none, options, &text, &self->err))) {
    out = yyjson_mut_obj(self->reply);
    yyjson_mut_obj_add_strncpy(self->reply, out, "text", text.data, text.len);
  }
  billcore_buf_free(&text);
  billcore_headers_free(headers);
  billcore_verifier_options_free(options);
  return out;
}

static yyjson_mut_val* parse_unverified(job* self, billcore_str body) {
  billcore_event* event = NULL;
  return ok(billcore_webhook_parse_unverified(body, &event, &self->err)) ? read_event(self, event, body) : NULL;
}

/* Whether the function without a verifier, which takes one secret and no options, ends as the verifier did. */
static bool is_same_without_verifier(const job* self, const char* verb, billcore_str body) {
  static const char* const options[] = {"max_body", "any_key_length", "freshness", "now", "accounts"};
  yyjson_val* secrets = yyjson_obj_get(self->args, "secrets");
  const billcore_str secret = bytes_of(yyjson_arr_get_first(secrets));
  billcore_status status = billcore_error_status(self->err);
  const billcore_status expected = status;
  billcore_event* event = NULL;
  bool is_plain = yyjson_arr_size(secrets) == 1;
  for (size_t i = 0; i < sizeof options / sizeof *options; ++i) {
    is_plain = is_plain && yyjson_obj_get(self->args, options[i]) == NULL;
  }
  if (is_plain && strcmp(verb, "verify") == 0) status = billcore_webhook_verify(body, signature_of(self), secret, NULL);
  if (is_plain && strcmp(verb, "unwrap") == 0)
    status = billcore_webhook_unwrap(body, signature_of(self), secret, &event, NULL);
  billcore_event_free(event);
  return status == expected;
}

static yyjson_mut_val* run_with_verifier(job* self, const char* verb, billcore_str body) {
  static const struct {
    const char* verb;
    yyjson_mut_val* (*run)(job* self, const billcore_verifier* verifier, billcore_str body);
  } verbs[] = {
      {"verify", verify},   {"stream", stream}, {"unwrap", unwrap}, {"unwrap_request", unwrap_request},
      {"matches", matches},
  };
  yyjson_mut_val* out = NULL;
  int64_t now = 0;
  billcore_verifier* verifier = make_verifier(self, &now);
  if (verifier != NULL) self->problem = "the driver knows no such op";
  for (size_t i = 0; verifier != NULL && i < sizeof verbs / sizeof *verbs; ++i) {
    if (strcmp(verb, verbs[i].verb) != 0) continue;
    self->problem = NULL;
    out = verbs[i].run(self, verifier, body);
  }
  billcore_verifier_free(verifier);
  if (is_same_without_verifier(self, verb, body)) return out;
  self->problem = "the function without a verifier ends with another status";
  return NULL;
}

yyjson_mut_val* run_webhook(job* self, const char* verb) {
  const billcore_str body = base64_of(yyjson_obj_get(self->args, "body_b64"));
  if (strcmp(verb, "sign") == 0) return sign(self, body);
  if (strcmp(verb, "explain") == 0) return explain(self, body);
  if (strcmp(verb, "parse_unverified") == 0) return parse_unverified(self, body);
  return run_with_verifier(self, verb, body);
}
