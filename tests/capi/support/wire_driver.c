/* The conformance driver in C: reads one JSON request per line from stdin, writes one JSON reply per line to stdout
 * (see tests/conformance). */
#define _POSIX_C_SOURCE 200809L

#include "wire_driver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool set_flag(billcore_options* to, const char* name, bool value, billcore_error** err) {
  return ok(billcore_options_set_bool(to, billcore_str_from(name), value, err));
}

static bool set_seconds(billcore_options* to, const char* name, yyjson_val* seconds, billcore_error** err) {
  const int64_t milliseconds = llround(strtod(yyjson_get_raw(seconds), NULL) * 1000);
  return ok(billcore_options_set_int64(to, billcore_str_from(name), milliseconds, err));
}

static bool set_timeout(billcore_options* to, yyjson_val* seconds, billcore_error** err) {
  return yyjson_is_null(seconds) ? set_flag(to, "no_timeout", true, err) : set_seconds(to, "timeout_ms", seconds, err);
}

static bool set_call_options(job* self) {
  yyjson_val* timeout = yyjson_obj_get(self->request, "timeout");
  yyjson_val* total = yyjson_obj_get(self->request, "total_timeout");
  billcore_options* options = NULL;
  if (timeout == NULL && total == NULL) return true;
  const bool set = ok(billcore_options_new(BILLCORE_OPTIONS_OF_CALL, &options, &self->err)) &&
                   (timeout == NULL || set_timeout(options, timeout, &self->err)) &&
                   (total == NULL || set_seconds(options, "total_timeout_ms", total, &self->err));
  self->call = (billcore_call_options*)(void*)options;
  return set;
}

static bool add_headers(billcore_options* to, yyjson_val* headers, billcore_error** err) {
  yyjson_obj_iter each = yyjson_obj_iter_with(headers);
  bool added = true;
  for (yyjson_val* name; added && (name = yyjson_obj_iter_next(&each)) != NULL;) {
    const billcore_str value = text_of(yyjson_obj_iter_get_val(name));
    added = ok(billcore_options_add(to, BILLCORE_STR("headers"), text_of(name), value, err));
  }
  return added;
}

/* The library's options have the names that the request has, with two exceptions: `timeout`, and an empty `proxy`. */
static bool set_client_option(billcore_options* to, yyjson_val* key, yyjson_val* value, billcore_error** err) {
  const billcore_str name = text_of(key);
  if (yyjson_equals_str(key, "timeout")) return set_timeout(to, value, err);
  if (yyjson_equals_str(key, "proxy") && yyjson_equals_str(value, "")) return set_flag(to, "no_proxy", true, err);
  if (yyjson_is_obj(value)) return add_headers(to, value, err);
  if (yyjson_is_str(value)) return ok(billcore_options_set_text(to, name, text_of(value), err));
  if (yyjson_is_bool(value)) return set_flag(to, name.data, yyjson_get_bool(value), err);
  if (!yyjson_is_raw(value)) return true;
  return ok(billcore_options_set_int64(to, name, strtoll(yyjson_get_raw(value), NULL, 10), err));
}

static bool set_client_options(billcore_options* to, yyjson_val* from, billcore_error** err) {
  yyjson_obj_iter each = yyjson_obj_iter_with(from);
  /* By default the client sends one request at a time, to keep the order of the answers. */
  bool set = ok(billcore_options_set_int64(to, BILLCORE_STR("concurrency"), 1, err));
  for (yyjson_val* key; set && (key = yyjson_obj_iter_next(&each)) != NULL;) {
    set = set_client_option(to, key, yyjson_obj_iter_get_val(key), err);
  }
  return set;
}

static void forget_client(driver* self) {
  billcore_loop_free(self->loop);
  self->loop = NULL;
  billcore_client_free(self->client);
  free(self->made_with);
  self->client = NULL;
  self->made_with = NULL;
}

/* Makes the client of a request, or reuses the previous request's client if the options are the same. */
static bool connect_client(job* self) {
  driver* kept = self->driver;
  yyjson_val* given = yyjson_obj_get(self->request, "client");
  billcore_options* options = NULL;
  const billcore_str wanted = json_of(given);
  if (kept->client != NULL && strcmp(wanted.data, kept->made_with) == 0) return true;
  forget_client(kept);
  kept->made_with = strdup(wanted.data);
  const bool made = ok(billcore_options_new(BILLCORE_OPTIONS_OF_CLIENT, &options, &self->err)) &&
                    set_client_options(options, given, &self->err) &&
                    ok(billcore_client_new((billcore_client_options*)(void*)options, &kept->client, &self->err)) &&
                    (!kept->on_loop || ok(billcore_loop_new(kept->client, &kept->loop, &self->err)));
  billcore_options_free(options);
  return made;
}

static yyjson_mut_val* run(job* self) {
  yyjson_val* op = yyjson_obj_get(self->request, "op");
  billcore_str name = text_of(op);
  billcore_operation* operation = NULL;
  yyjson_mut_val* out = NULL;
  if (yyjson_is_str(op) && strncmp(name.data, "webhook.", 8) == 0) return run_webhook(self, name.data + 8);
  const char* many = yyjson_is_str(op) ? strstr(name.data, "_many") : NULL;
  if (many != NULL) name.len = (size_t)(many - name.data); /* orders.get_many consists of calls of orders.get */
  if (!ok(billcore_operation_new(name, &operation, NULL))) {
    self->problem = "the driver knows no such op";
    return NULL;
  }
  if (connect_client(self) && set_call_options(self))
    out = many != NULL ? run_many(self, name) : run_operation(self, operation);
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
  free_texts();
  yyjson_mut_doc_free(reply);
  yyjson_doc_free(parsed);
}

/* With the argument `loop`, the driver runs each operation on a loop. */
int main(int argc, char** argv) {
  if (argc == 7 && strcmp(argv[1], "charges") == 0) return run_charges(argv + 2);
  driver kept = {argc > 1 && strcmp(argv[1], "loop") == 0, NULL, NULL, NULL};
  char* line = NULL;
  size_t room = 0;
  ssize_t len;
  while ((len = getline(&line, &room, stdin)) > 0) answer(&kept, line, (size_t)len);
  free(line);
  forget_client(&kept);
  return 0;
}
