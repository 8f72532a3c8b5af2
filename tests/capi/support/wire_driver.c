/* The conformance driver in C: reads one JSON request per line from stdin, writes one JSON reply per line to stdout
 * (see tests/conformance). */
#define _POSIX_C_SOURCE 200809L

#include "wire_driver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t milliseconds(yyjson_val* seconds) { return llround(strtod(yyjson_get_raw(seconds), NULL) * 1000); }

static bool set_call_options(job* self) {
  yyjson_val* timeout = yyjson_obj_get(self->request, "timeout");
  if (timeout == NULL) return true;
  if (!ok(billcore_call_options_new(&self->call, &self->err))) return false;
  return ok(yyjson_is_null(timeout)
                ? billcore_call_options_set_no_timeout(self->call, &self->err)
                : billcore_call_options_set_timeout_ms(self->call, milliseconds(timeout), &self->err));
}

static bool set_client_options(billcore_client_options* to, yyjson_val* from, billcore_error** err) {
  yyjson_val* timeout = yyjson_obj_get(from, "timeout");
  yyjson_val* name;
  yyjson_obj_iter headers = yyjson_obj_iter_with(yyjson_obj_get(from, "headers"));
  int64_t bytes_allowed;
  billcore_str text;
  if ((text = arg_text(from, "base_url")).data && !ok(billcore_client_options_set_base_url(to, text, err)))
    return false;
  if ((text = arg_text(from, "api_key")).data && !ok(billcore_client_options_set_api_key(to, text, err))) return false;
  if (yyjson_is_null(timeout) && !ok(billcore_client_options_set_no_timeout(to, err))) return false;
  if (yyjson_is_raw(timeout) && !ok(billcore_client_options_set_timeout_ms(to, milliseconds(timeout), err)))
    return false;
  int64_t retries = 0;
  if (arg_integer(from, "max_retries", &retries) &&
      !ok(billcore_client_options_set_max_retries(to, (int32_t)retries, err)))
    return false;
  int64_t concurrency = 1; /* by default the client sends one request at a time, to keep the order of the answers */
  arg_integer(from, "concurrency", &concurrency);
  if (!ok(billcore_client_options_set_concurrency(to, (int32_t)concurrency, err))) return false;
  text = arg_text(from, "proxy");
  if (text.data != NULL && !ok(text.len > 0 ? billcore_client_options_set_proxy(to, text, err)
                                            : billcore_client_options_set_no_proxy(to, err)))
    return false;
  if ((text = arg_text(from, "ca_bundle")).data && !ok(billcore_client_options_set_ca_bundle(to, text, err)))
    return false;
  text = arg_text(from, "client_certificate");
  if (text.data != NULL && !ok(billcore_client_options_set_client_certificate(to, text, err))) return false;
  while ((name = yyjson_obj_iter_next(&headers)) != NULL) {
    yyjson_val* value = yyjson_obj_iter_get_val(name);
    const billcore_str header_name = {yyjson_get_str(name), yyjson_get_len(name)};
    const billcore_str header_value = {yyjson_get_str(value), yyjson_get_len(value)};
    if (!ok(billcore_client_options_add_header(to, header_name, header_value, err))) return false;
  }
  if (arg_flag(from, "http2", false) && !ok(billcore_client_options_enable_http2(to, err))) return false;
  if (!arg_flag(from, "http2", true) && !ok(billcore_client_options_disable_http2(to, err))) return false;
  if (arg_flag(from, "allow_insecure_http", false) && !ok(billcore_client_options_allow_insecure_http(to, err)))
    return false;
  text = arg_text(from, "request_id_header");
  if (text.data && !ok(billcore_client_options_set_request_id_header(to, text, err))) return false;
  return !arg_integer(from, "max_response", &bytes_allowed) ||
         ok(billcore_client_options_set_max_response(to, (size_t)bytes_allowed, err));
}

static void forget_client(driver* self) {
  billcore_loop_free(self->loop);
  self->loop = NULL;
  billcore_client_free(self->client);
  free(self->made_with.data);
  self->client = NULL;
  self->made_with = (bytes){NULL, 0};
}

/* Makes the client of a request, or reuses the previous request's client if the options are the same. */
static bool connect_client(job* self) {
  driver* kept = self->driver;
  yyjson_val* given = yyjson_obj_get(self->request, "client");
  billcore_client_options* options = NULL;
  bytes wanted = json_of(given);
  if (kept->client != NULL && wanted.len == kept->made_with.len &&
      memcmp(wanted.data, kept->made_with.data, wanted.len) == 0) {
    free(wanted.data);
    return true;
  }
  forget_client(kept);
  kept->made_with = wanted;
  const bool made = ok(billcore_client_options_new(&options, &self->err)) &&
                    set_client_options(options, given, &self->err) &&
                    ok(billcore_client_new(options, &kept->client, &self->err)) &&
                    (!kept->on_loop || ok(billcore_loop_new(kept->client, &kept->loop, &self->err)));
  billcore_client_options_free(options);
  return made;
}

static yyjson_mut_val* run(job* self) {
  yyjson_val* op = yyjson_obj_get(self->request, "op");
  const billcore_str name = {yyjson_get_str(op), yyjson_get_len(op)};
  billcore_operation* operation = NULL;
  yyjson_mut_val* out = NULL;
  if (yyjson_is_str(op) && strncmp(name.data, "webhook.", 8) == 0) return run_webhook(self, name.data + 8);
  if (!ok(billcore_operation_new(name, &operation, NULL))) {
    self->problem = "the driver knows no such op";
    return NULL;
  }
  if (connect_client(self) && set_call_options(self)) out = run_operation(self, operation);
  billcore_call_options_free(self->call);
  billcore_operation_free(operation);
  return out;
}

static void answer(driver* kept, char* line, size_t len) {
  yyjson_doc* parsed = yyjson_read(line, len, YYJSON_READ_NUMBER_AS_RAW);
  yyjson_mut_doc* reply = yyjson_mut_doc_new(NULL);
  yyjson_val* request = yyjson_doc_get_root(parsed);
  job self = {kept, request, yyjson_obj_get(request, "args"), reply, NULL, NULL, NULL, NULL, {NULL, 0}};
  yyjson_mut_val* root = yyjson_mut_obj(reply);
  yyjson_mut_val* result = run(&self);
  yyjson_mut_doc_set_root(reply, root);
  if (result != NULL) {
    yyjson_mut_obj_add_val(reply, root, "ok", result);
  } else {
    yyjson_mut_val* error = put_error(reply, self.err);
    if (self.problem != NULL) yyjson_mut_obj_add_str(reply, error, "message", self.problem);
    if (self.items != NULL) {
      yyjson_mut_obj_add_uint(reply, error, "items_before", yyjson_mut_arr_size(self.items));
      yyjson_mut_obj_add_val(reply, error, "items", self.items);
    }
    if (self.state.data != NULL) yyjson_mut_obj_add_strncpy(reply, error, "state", self.state.data, self.state.len);
    yyjson_mut_obj_add_val(reply, root, "error", error);
  }
  char* text = yyjson_mut_write(reply, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);
  puts(text);
  fflush(stdout);
  free(text);
  billcore_error_free(self.err);
  billcore_buf_free(&self.state);
  yyjson_mut_doc_free(reply);
  yyjson_doc_free(parsed);
}

/* With the argument `loop`, the driver runs each operation on a loop. */
int main(int argc, char** argv) {
  driver kept = {argc > 1 && strcmp(argv[1], "loop") == 0, NULL, NULL, {NULL, 0}};
  char* line = NULL;
  size_t room = 0;
  ssize_t len;
  while ((len = getline(&line, &room, stdin)) > 0) answer(&kept, line, (size_t)len);
  free(line);
  forget_client(&kept);
  return 0;
}
