/* The driver's operations on signatures and events. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "wire_driver.h"

static yyjson_mut_val* sign(job* self, billcore_str body) {
  bytes secret = bytes_of(yyjson_obj_get(self->args, "secret"));
  billcore_buf signature;
  yyjson_mut_val* out = NULL;
  if (ok(billcore_webhook_sign(body, str_of(secret), &signature, &self->err))) {
    out = yyjson_mut_obj(self->reply);
    yyjson_mut_obj_add_strcpy(self->reply, out, "signature", signature.data);
  }
  billcore_buf_free(&signature);
  free(secret.data);
  return out;
}

/* The texts of an array; free them with free_texts. */
typedef struct texts {
  bytes* owned;
  billcore_str* views;
  size_t count;
} texts;

static texts texts_of(yyjson_val* given) {
  texts out = {NULL, NULL, yyjson_arr_size(given)};
  out.owned = calloc(out.count + 1, sizeof *out.owned);
  out.views = calloc(out.count + 1, sizeof *out.views);
  for (size_t i = 0; i < out.count; ++i) {
    out.owned[i] = bytes_of(yyjson_arr_get(given, i));
    out.views[i] = str_of(out.owned[i]);
  }
  return out;
}

static void free_texts(texts* self) {
  for (size_t i = 0; i < self->count; ++i) free(self->owned[i].data);
  free(self->owned);
  free(self->views);
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
  return !arg_flag(from, "any_key_length", false) || ok(billcore_verifier_options_allow_any_key_length(to, err));
}

static bool add_secrets(billcore_verifier_options* to, const texts* secrets, billcore_error** err) {
  for (size_t i = 0; i < secrets->count; ++i) {
    if (!ok(billcore_verifier_options_add_secret(to, secrets->views[i], err))) return false;
  }
  return true;
}

static bool add_accounts(billcore_verifier_options* to, yyjson_val* given, billcore_error** err) {
  yyjson_arr_iter accounts = yyjson_arr_iter_with(given);
  yyjson_val* each;
  bool good = true;
  while (good && (each = yyjson_arr_iter_next(&accounts)) != NULL) {
    yyjson_val* account = yyjson_obj_get(each, "account");
    texts secrets = texts_of(yyjson_obj_get(each, "secrets"));
    const char* name = yyjson_is_raw(account) ? yyjson_get_raw(account) : yyjson_get_str(account);
    good = ok(billcore_verifier_options_add_account(to, (billcore_str){name, yyjson_get_len(account)}, err)) &&
           add_secrets(to, &secrets, err);
    free_texts(&secrets);
  }
  return good;
}

static billcore_verifier* make_verifier(job* self, int64_t* now) {
  texts secrets = texts_of(yyjson_obj_get(self->args, "secrets"));
  billcore_verifier_options* options = NULL;
  billcore_verifier* out = NULL;
  if (ok(billcore_verifier_options_new(&options, &self->err)) &&
      set_verifier_options(options, self->args, now, &self->err) && add_secrets(options, &secrets, &self->err) &&
      add_accounts(options, yyjson_obj_get(self->args, "accounts"), &self->err) &&
      !ok(billcore_verifier_new((billcore_str){NULL, 0}, options, &out, &self->err)))
    out = NULL;
  billcore_verifier_options_free(options);
  free_texts(&secrets);
  return out;
}

static yyjson_mut_val* read_event(job* self, billcore_event* event, billcore_str body) {
  yyjson_mut_val* out = yyjson_mut_obj(self->reply);
  yyjson_mut_val* values = yyjson_mut_obj_add_obj(self->reply, out, "read");
  yyjson_arr_iter paths = yyjson_arr_iter_with(yyjson_obj_get(self->args, "read"));
  yyjson_val* path;
  billcore_str raw;
  while ((path = yyjson_arr_iter_next(&paths)) != NULL) {
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

static yyjson_mut_val* stream(job* self, const billcore_verifier* verifier, billcore_str body, billcore_str signature) {
  yyjson_arr_iter sizes = yyjson_arr_iter_with(yyjson_obj_get(self->args, "chunks"));
  billcore_verifier_stream* made = NULL;
  yyjson_val* size;
  size_t index = 0;
  bool good = ok(billcore_verifier_stream_new(verifier, &made, &self->err));
  while (good && (size = yyjson_arr_iter_next(&sizes)) != NULL) {
    billcore_str piece = {body.data, (size_t)strtoull(yyjson_get_raw(size), NULL, 10)};
    if (piece.len > body.len) piece.len = body.len;
    good = ok(billcore_verifier_stream_update(made, piece, &self->err));
    body = (billcore_str){body.data + piece.len, body.len - piece.len};
  }
  good = good && ok(billcore_verifier_stream_update(made, body, &self->err)) &&
         ok(billcore_verifier_stream_finish(made, signature, &index, &self->err));
  billcore_verifier_stream_free(made);
  return good ? put_index(self, index) : NULL;
}

/* Makes *headers from the request; the caller frees it, even if the result is false. */
static bool make_headers(job* self, billcore_headers** headers) {
  yyjson_arr_iter fields = yyjson_arr_iter_with(yyjson_obj_get(self->args, "headers"));
  yyjson_val* field;
  bool good = ok(billcore_headers_new(headers, &self->err));
  while (good && (field = yyjson_arr_iter_next(&fields)) != NULL) {
    bytes name = bytes_of(yyjson_arr_get(field, 0));
    bytes value = bytes_of(yyjson_arr_get(field, 1));
    good = ok(billcore_headers_add(*headers, str_of(name), str_of(value), &self->err));
    free(name.data);
    free(value.data);
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

static yyjson_mut_val* check(job* self, const char* verb, const billcore_verifier* verifier, billcore_str body) {
  bytes signature = bytes_of(yyjson_obj_get(self->args, "signature"));
  billcore_event* event = NULL;
  size_t index = 0;
  yyjson_mut_val* out = NULL;
  if (strcmp(verb, "unwrap_request") == 0) {
    out = unwrap_request(self, verifier, body);
  } else if (strcmp(verb, "stream") == 0) {
    out = stream(self, verifier, body, str_of(signature));
  } else if (strcmp(verb, "unwrap") == 0) {
    if (ok(billcore_verifier_unwrap(verifier, body, str_of(signature), &event, &self->err)))
      out = read_event(self, event, body);
  } else if (strcmp(verb, "verify") != 0) {
    self->problem = "the driver knows no such op";
  } else if (ok(billcore_verifier_verify(verifier, body, str_of(signature), &index, &self->err))) {
    out = put_index(self, index);
  }
  free(signature.data);
  return out;
}

static yyjson_mut_val* matches(job* self, const billcore_verifier* verifier) {
  yyjson_arr_iter deliveries = yyjson_arr_iter_with(yyjson_obj_get(self->args, "deliveries"));
  yyjson_mut_val* out = yyjson_mut_obj(self->reply);
  yyjson_mut_val* counts = yyjson_mut_obj_add_arr(self->reply, out, "matches");
  yyjson_val* delivery;
  while ((delivery = yyjson_arr_iter_next(&deliveries)) != NULL) {
    yyjson_val* encoded = yyjson_obj_get(delivery, "body_b64");
    bytes body = base64_decoded(yyjson_get_str(encoded), yyjson_get_len(encoded));
    bytes signature = bytes_of(yyjson_obj_get(delivery, "signature"));
    billcore_event* event = NULL;
    /* The driver ignores the result of unwrap: the reply contains only the verifier's match counts. */
    if (!ok(billcore_verifier_unwrap(verifier, str_of(body), str_of(signature), &event, &self->err))) {
      billcore_error_free(self->err);
      self->err = NULL;
    }
    billcore_event_free(event);
    free(signature.data);
    free(body.data);
  }
  for (size_t i = 0; i < billcore_verifier_secret_count(verifier); ++i) {
    uint64_t count = 0;
    if (!ok(billcore_verifier_matches(verifier, i, &count, &self->err))) return NULL;
    yyjson_mut_arr_add_uint(self->reply, counts, count);
  }
  return out;
}

static yyjson_mut_val* explain(job* self, billcore_str body) {
  texts secrets = texts_of(yyjson_obj_get(self->args, "secrets"));
  bytes signature = bytes_of(yyjson_obj_get(self->args, "signature"));
  const billcore_str none = {NULL, 0};
  billcore_verifier_options* options = NULL;
  billcore_headers* headers = NULL;
  billcore_buf text = {NULL, 0};
  yyjson_mut_val* out = NULL;
  if (ok(billcore_verifier_options_new(&options, &self->err)) && add_secrets(options, &secrets, &self->err) &&
      make_headers(self, &headers) &&
      ok(billcore_webhook_explain_with_headers(body, str_of(signature), headers, none, options, &text, &self->err))) {
    out = yyjson_mut_obj(self->reply);
    yyjson_mut_obj_add_strncpy(self->reply, out, "text", text.data, text.len);
  }
  billcore_buf_free(&text);
  billcore_headers_free(headers);
  billcore_verifier_options_free(options);
  free(signature.data);
  free_texts(&secrets);
  return out;
}

static yyjson_mut_val* parse_unverified(job* self, billcore_str body) {
  billcore_event* event = NULL;
  return ok(billcore_webhook_parse_unverified(body, &event, &self->err)) ? read_event(self, event, body) : NULL;
}

yyjson_mut_val* run_webhook(job* self, const char* verb) {
  yyjson_val* encoded = yyjson_obj_get(self->args, "body_b64");
  bytes body = base64_decoded(yyjson_get_str(encoded), yyjson_get_len(encoded));
  yyjson_mut_val* out = NULL;
  int64_t now = 0;
  if (strcmp(verb, "sign") == 0) {
    out = sign(self, str_of(body));
  } else if (strcmp(verb, "explain") == 0) {
    out = explain(self, str_of(body));
  } else if (strcmp(verb, "parse_unverified") == 0) {
    out = parse_unverified(self, str_of(body));
  } else {
    billcore_verifier* verifier = make_verifier(self, &now);
    if (verifier != NULL)
      out = strcmp(verb, "matches") == 0 ? matches(self, verifier) : check(self, verb, verifier, str_of(body));
    billcore_verifier_free(verifier);
  }
  free(body.data);
  return out;
}
