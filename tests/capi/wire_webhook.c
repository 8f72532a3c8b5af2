/* Signatures and events. */
#include <stdlib.h>
#include <string.h>

#include "wire_driver.h"

static bool ok(billcore_status status) { return status == BILLCORE_OK; }

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

static billcore_verifier* make_verifier(job* self) {
  yyjson_val* given = yyjson_obj_get(self->args, "secrets");
  const size_t count = yyjson_arr_size(given);
  bytes* owned = calloc(count + 1, sizeof *owned);
  billcore_str* secrets = calloc(count + 1, sizeof *secrets);
  billcore_verifier_options* options = NULL;
  billcore_verifier* out = NULL;
  int64_t limit;
  for (size_t i = 0; i < count; ++i) {
    owned[i] = bytes_of(yyjson_arr_get(given, i));
    secrets[i] = str_of(owned[i]);
  }
  bool made = ok(billcore_verifier_options_new(&options, &self->err));
  if (made && arg_integer(self->args, "max_body", &limit)) {
    made = ok(billcore_verifier_options_set_max_body(options, (size_t)limit, &self->err));
  }
  if (made && !ok(billcore_verifier_new(secrets, count, options, &out, &self->err))) out = NULL;
  billcore_verifier_options_free(options);
  for (size_t i = 0; i < count; ++i) free(owned[i].data);
  free(secrets);
  free(owned);
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

static yyjson_mut_val* verify(job* self, bool unwrap, billcore_str body) {
  billcore_verifier* verifier = make_verifier(self);
  bytes signature = bytes_of(yyjson_obj_get(self->args, "signature"));
  billcore_event* event = NULL;
  size_t index = 0;
  yyjson_mut_val* out = NULL;
  if (verifier != NULL && unwrap) {
    if (ok(billcore_verifier_unwrap(verifier, body, str_of(signature), &event, &self->err)))
      out = read_event(self, event, body);
  } else if (verifier != NULL && ok(billcore_verifier_verify(verifier, body, str_of(signature), &index, &self->err))) {
    out = yyjson_mut_obj(self->reply);
    yyjson_mut_obj_add_uint(self->reply, out, "secret_index", index);
  }
  free(signature.data);
  billcore_verifier_free(verifier);
  return out;
}

yyjson_mut_val* run_webhook(job* self, const char* verb) {
  yyjson_val* encoded = yyjson_obj_get(self->args, "body_b64");
  bytes body = base64_decoded(yyjson_get_str(encoded), yyjson_get_len(encoded));
  yyjson_mut_val* out =
      strcmp(verb, "sign") == 0 ? sign(self, str_of(body)) : verify(self, strcmp(verb, "unwrap") == 0, str_of(body));
  free(body.data);
  return out;
}
