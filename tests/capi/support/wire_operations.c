/* The driver's operations of a client. An operation and its arguments go to the library by their names, so a new
 * operation needs nothing here. */
#define _POSIX_C_SOURCE 200809L

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "wire_driver.h"

static bool set_fields(job* self, billcore_operation* to, yyjson_val* fields);

static bool set_json(job* self, billcore_operation* to, billcore_str name, yyjson_val* value) {
  return ok(billcore_operation_set_json(to, name, json_of(value), &self->err));
}

static bool set_each(job* self, billcore_operation* to, billcore_str name, yyjson_val* values) {
  yyjson_arr_iter each = yyjson_arr_iter_with(values);
  bool set = true;
  for (yyjson_val* one; set && (one = yyjson_arr_iter_next(&each)) != NULL;) {
    set = ok(billcore_operation_add_text(to, name, text_of(one), &self->err));
  }
  return set;
}

static bool set_query(job* self, billcore_operation* to, yyjson_val* query) {
  yyjson_obj_iter each = yyjson_obj_iter_with(query);
  bool set = true;
  for (yyjson_val* key; set && (key = yyjson_obj_iter_next(&each)) != NULL;) {
    const billcore_str value = text_of(yyjson_obj_iter_get_val(key));
    set = ok(billcore_operation_add(to, BILLCORE_STR("query"), text_of(key), value, &self->err));
  }
  return set;
}

static bool set_argument(job* self, billcore_operation* to, yyjson_val* key, yyjson_val* value) {
  const billcore_str name = text_of(key);
  int64_t number;
  if (yyjson_equals_str(key, "fields")) return set_fields(self, to, value);
  if (yyjson_equals_str(key, "query")) return set_query(self, to, value);
  if (yyjson_equals_str(key, "json")) return set_json(self, to, name, value);
  if (yyjson_is_arr(value)) return set_each(self, to, name, value);
  if (yyjson_is_str(value)) return ok(billcore_operation_set_text(to, name, text_of(value), &self->err));
  if (yyjson_is_bool(value)) return ok(billcore_operation_set_bool(to, name, yyjson_get_bool(value), &self->err));
  if (integer_of(value, &number)) return ok(billcore_operation_set_int64(to, name, number, &self->err));
  return set_json(self, to, name, value);
}

/* Fields of a product: a text and an integer by their types, anything else as JSON. */
static bool set_fields(job* self, billcore_operation* to, yyjson_val* fields) {
  yyjson_obj_iter each = yyjson_obj_iter_with(fields);
  bool set = true;
  for (yyjson_val* key; set && (key = yyjson_obj_iter_next(&each)) != NULL;) {
    yyjson_val* value = yyjson_obj_iter_get_val(key);
    int64_t number;
    const bool is_json = !yyjson_is_str(value) && !integer_of(value, &number);
    set = is_json ? set_json(self, to, text_of(key), value) : set_argument(self, to, key, value);
  }
  return set;
}

static yyjson_mut_val* put_response(job* self, const billcore_response* response) {
  yyjson_mut_doc* reply = self->reply;
  yyjson_mut_val* out = yyjson_mut_obj(reply);
  yyjson_mut_val* headers = yyjson_mut_arr(reply);
  int32_t status = 0;
  size_t count = 0;
  billcore_str body = {NULL, 0};
  bool read = ok(billcore_response_status(response, &status, &self->err)) &&
              ok(billcore_response_body(response, &body, &self->err)) &&
              ok(billcore_response_header_count(response, &count, &self->err));
  for (size_t i = 0; read && i < count; ++i) {
    billcore_str name;
    billcore_str value;
    read = ok(billcore_response_header_at(response, i, &name, &value, &self->err));
    yyjson_mut_val* pair = yyjson_mut_arr_add_arr(reply, headers);
    yyjson_mut_arr_append(pair, put_text(reply, name));
    yyjson_mut_arr_append(pair, put_text(reply, value));
  }
  yyjson_mut_obj_add_int(reply, out, "status", status);
  yyjson_mut_obj_add_val(reply, out, "headers", headers);
  yyjson_mut_obj_add_val(reply, out, "body", put_text(reply, body));
  return read ? out : NULL;
}

yyjson_mut_val* put_result(job* self, billcore_result** result) {
  const billcore_result_kind kind = billcore_result_kind_of(*result);
  billcore_response* response = NULL;
  billcore_resource* resource = NULL;
  billcore_str raw;
  yyjson_mut_val* out = NULL;
  if (kind == BILLCORE_RESULT_NONE) return yyjson_mut_null(self->reply);
  if (kind == BILLCORE_RESULT_RESPONSE) {
    if (ok(billcore_result_take_response(result, &response, &self->err))) out = put_response(self, response);
  } else if (ok(billcore_result_take_resource(result, kind, &resource, &self->err)) &&
             ok(billcore_resource_raw(resource, &raw, &self->err))) {
    out = put_json(self->reply, raw);
  }
  billcore_response_free(response);
  billcore_resource_free(resource);
  return out;
}

static yyjson_mut_val* run_list(job* self, billcore_operation* operation) {
  billcore_list* list = NULL;
  return ok(billcore_client_list(self->driver->client, operation, self->call, &list, &self->err))
             ? read_list(self, list)
             : NULL;
}

billcore_status end_of_call(job* self, billcore_result** result) {
  billcore_loop* loop = self->driver->loop;
  struct pollfd ready = {billcore_loop_descriptor(loop), POLLIN, 0};
  billcore_ticket ticket;
  billcore_error* failure = NULL;
  billcore_status status = BILLCORE_DONE;
  while (status == BILLCORE_DONE) {
    poll(&ready, 1, -1);
    status = billcore_loop_process(loop, NULL, &self->err);
    if (ok(status)) status = billcore_loop_next(loop, &ticket, result, &failure, &self->err);
  }
  if (failure != NULL) self->err = failure;
  return failure != NULL ? billcore_error_status(failure) : status;
}

static billcore_status perform(job* self, billcore_operation* operation, billcore_result** result) {
  const driver* on = self->driver;
  if (!on->on_loop) return billcore_client_perform(on->client, operation, self->call, result, &self->err);
  const billcore_status status =
      billcore_loop_start(on->loop, operation, self->call, NULL, NULL, NULL, NULL, &self->err);
  return ok(status) ? end_of_call(self, result) : status;
}

yyjson_mut_val* run_operation(job* self, billcore_operation* operation) {
  billcore_result* result = NULL;
  yyjson_obj_iter each = yyjson_obj_iter_with(self->args);
  for (yyjson_val* key; (key = yyjson_obj_iter_next(&each)) != NULL;) {
    if (!set_argument(self, operation, key, yyjson_obj_iter_get_val(key))) return NULL;
  }
  if (yyjson_obj_get(self->request, "take") != NULL) return run_list(self, operation);
  yyjson_mut_val* out = NULL;
  if (ok(perform(self, operation, &result))) {
    out = put_result(self, &result);
  }
  billcore_result_free(result);
  return out;
}
