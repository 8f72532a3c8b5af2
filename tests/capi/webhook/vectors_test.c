/* Runs every case of the shared webhook vectors: with the one-shot functions, with a verifier, and with headers. */
#include <yyjson.h>

#include "support/check.h"
#include "support/json_reply.h"

typedef struct test_case {
  yyjson_val* json;
  const char* name;
  bytes body;
  bytes signature;
  bytes secrets[32];
  billcore_str secret_views[32];
  size_t count;
} test_case;

static const char* expected(const test_case* self, const char* what) {
  return yyjson_get_str(yyjson_obj_get(yyjson_obj_get(self->json, "expect"), what));
}

/* Appends a text `count` times. */
static void append(bytes* to, const char* text, size_t len, size_t count) {
  to->data = realloc(to->data, to->len + len * count + 1);
  CHECK(to->data != NULL);
  for (; count > 0; --count) {
    memcpy(to->data + to->len, text, len);
    to->len += len;
  }
}

static bytes body_of(yyjson_val* json) {
  yyjson_val* text = yyjson_obj_get(json, "body_text");
  yyjson_val* encoded = yyjson_obj_get(json, "body_b64");
  yyjson_val* parts = yyjson_obj_get(json, "body_parts");
  yyjson_arr_iter each = yyjson_arr_iter_with(parts);
  yyjson_val* part;
  bytes out = {NULL, 0};
  if (text != NULL) return bytes_of(text);
  if (encoded != NULL) return base64_decoded(yyjson_get_str(encoded), yyjson_get_len(encoded));
  CHECK(parts != NULL);
  append(&out, "", 0, 0);
  while ((part = yyjson_arr_iter_next(&each)) != NULL) {
    yyjson_val* repeated = yyjson_obj_get(part, "repeat");
    yyjson_val* piece = repeated != NULL ? repeated : part;
    const size_t count = repeated != NULL ? yyjson_get_uint(yyjson_obj_get(part, "count")) : 1;
    CHECK(yyjson_is_str(piece));
    append(&out, yyjson_get_str(piece), yyjson_get_len(piece), count);
  }
  return out;
}

static test_case read_case(yyjson_val* json) {
  test_case self = {.json = json, .name = yyjson_get_str(yyjson_obj_get(json, "name"))};
  yyjson_arr_iter secrets = yyjson_arr_iter_with(yyjson_obj_get(json, "secrets"));
  yyjson_val* secret;
  self.body = body_of(json);
  self.signature = bytes_of(yyjson_obj_get(json, "signature"));
  while ((secret = yyjson_arr_iter_next(&secrets)) != NULL) {
    CHECK(self.count < sizeof self.secrets / sizeof *self.secrets);
    self.secrets[self.count] = bytes_of(secret);
    self.secret_views[self.count] = str_of(self.secrets[self.count]);
    ++self.count;
  }
  return self;
}

static void free_case(test_case* self) {
  for (size_t i = 0; i < self->count; ++i) free(self->secrets[i].data);
  free(self->signature.data);
  free(self->body.data);
}

/* Checks that a call of `what` ("verify" or "unwrap") ended as the test case expects, and frees the error. */
static void check_outcome(const test_case* self, const char* what, billcore_status status, billcore_error* err) {
  const char* wanted = expected(self, what);
  const char* verify = expected(self, "verify");
  const char* got = status == BILLCORE_OK ? "ok" : class_of(status);
  if (status == BILLCORE_ERROR_SIGNATURE) {
    yyjson_val* answer = yyjson_obj_get(yyjson_obj_get(self->json, "expect"), "http_status");
    if (strcmp(billcore_reason_name(billcore_error_reason(err)), verify) != 0) {
      fprintf(stderr, "%s: %s: %s\n", self->name, what, billcore_error_message(err).data);
      exit(1);
    }
    CHECK(billcore_error_http_status(err) == (int32_t)yyjson_get_int(answer));
    if (strcmp(what, "verify") == 0) got = verify;
  }
  if (strcmp(got, wanted) != 0) {
    fprintf(stderr, "%s: %s gave %s, not %s\n", self->name, what, got, wanted);
    exit(1);
  }
  CHECK((status == BILLCORE_OK) == (err == NULL));
  billcore_error_free(err);
}

static void check_verifier(const test_case* self, const billcore_verifier* verifier) {
  const billcore_str body = str_of(self->body);
  const billcore_str signature = str_of(self->signature);
  billcore_headers* headers = NULL;
  billcore_event* event = NULL;
  billcore_error* err = NULL;
  size_t index = 99;
  billcore_status status = billcore_verifier_verify(verifier, body, signature, &index, &err);
  yyjson_val* wanted = yyjson_obj_get(yyjson_obj_get(self->json, "expect"), "secret_index");
  CHECK(index == (status == BILLCORE_OK ? yyjson_get_uint(wanted) : 0));
  check_outcome(self, "verify", status, err);

  status = billcore_verifier_unwrap(verifier, body, signature, &event, &err);
  CHECK((event != NULL) == (status == BILLCORE_OK));
  check_outcome(self, "unwrap", status, err);
  if (event != NULL) {
    billcore_str raw;
    CHECK_OK(billcore_event_raw(event, &raw, &err));
    CHECK(raw.len == body.len && memcmp(raw.data, body.data, raw.len) == 0);
  }
  billcore_event_free(event);

  CHECK_OK(billcore_headers_new(&headers, &err));
  CHECK_OK(billcore_headers_add(headers, BILLCORE_STR("content-type"), BILLCORE_STR("application/json"), &err));
  if (signature.data != NULL)
    CHECK_OK(billcore_headers_add(headers, BILLCORE_STR("SERVICE-signature"), signature, &err));
  status = billcore_verifier_unwrap_request(verifier, body, headers, &event, &err);
  billcore_headers_free(headers);
  check_outcome(self, expected(self, "unwrap_request") != NULL ? "unwrap_request" : "unwrap", status, err);
  billcore_event_free(event);
}

static void check_case(const test_case* self) {
  const billcore_str body = str_of(self->body);
  const billcore_str signature = str_of(self->signature);
  yyjson_val* max_body = yyjson_obj_get(self->json, "max_body");
  billcore_verifier_options* options = NULL;
  billcore_verifier* verifier = NULL;
  billcore_event* event = NULL;
  billcore_error* err = NULL;
  billcore_status status;

  CHECK_OK(billcore_verifier_options_new(&options, &err));
  if (max_body != NULL) CHECK_OK(billcore_verifier_options_set_max_body(options, yyjson_get_uint(max_body), &err));
  for (size_t i = 0; i < self->count; ++i) {
    CHECK_OK(billcore_verifier_options_add_secret(options, self->secret_views[i], &err));
  }
  status = billcore_verifier_new((billcore_str){NULL, 0}, options, &verifier, &err);
  billcore_verifier_options_free(options);
  CHECK((status == BILLCORE_OK) == (verifier != NULL));
  if (status == BILLCORE_OK) {
    check_verifier(self, verifier);
  } else {
    check_outcome(self, "verify", status, err);
  }
  billcore_verifier_free(verifier);

  if (self->count != 1 || max_body != NULL) return; /* one-shot functions have one secret and the default limit */
  status = billcore_webhook_verify(body, signature, self->secret_views[0], &err);
  check_outcome(self, "verify", status, err);
  status = billcore_webhook_unwrap(body, signature, self->secret_views[0], &event, &err);
  check_outcome(self, "unwrap", status, err);
  billcore_event_free(event);
  /* A call without an error output returns the same status. */
  CHECK(billcore_webhook_verify(body, signature, self->secret_views[0], NULL) ==
        billcore_webhook_verify(body, signature, self->secret_views[0], &err));
  billcore_error_free(err);
}

int main(void) {
  yyjson_doc* file = yyjson_read_file(BILLCORE_FIXTURES "/webhook_vectors.json", 0, NULL, NULL);
  yyjson_arr_iter cases = yyjson_arr_iter_with(yyjson_obj_get(yyjson_doc_get_root(file), "cases"));
  yyjson_val* json;
  size_t count = 0;
  while ((json = yyjson_arr_iter_next(&cases)) != NULL) {
    test_case self = read_case(json);
    check_case(&self);
    free_case(&self);
    ++count;
  }
  CHECK(count > 50);
  printf("%zu cases\n", count);
  yyjson_doc_free(file);
  return 0;
}
