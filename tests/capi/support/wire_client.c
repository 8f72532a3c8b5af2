/* The driver's operations that are not generated. */
#include <stdlib.h>
#include <string.h>

#include "wire_arguments.h"

PUT_RESOURCE(product)

yyjson_mut_val* put_response(job* self, billcore_response* response) {
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
  billcore_response_free(response);
  return read ? out : NULL;
}

/* Sets one field of an update: with the typed setter if the value has the field's type, otherwise as JSON or null. */
static bool set_change(billcore_product_changes* to, yyjson_val* name, yyjson_val* value, billcore_error** err) {
  const billcore_str field = {yyjson_get_str(name), yyjson_get_len(name)};
  const billcore_str text = {yyjson_get_str(value), yyjson_get_len(value)};
  const char* number = yyjson_get_raw(value);
  if (yyjson_is_null(value)) return ok(billcore_product_changes_set_null(to, field, err));
  if (yyjson_is_str(value)) {
    if (yyjson_equals_str(name, "name")) return ok(billcore_product_changes_set_name(to, text, err));
    if (yyjson_equals_str(name, "description")) return ok(billcore_product_changes_set_description(to, text, err));
    if (yyjson_equals_str(name, "currency")) return ok(billcore_product_changes_set_currency(to, text, err));
    if (yyjson_equals_str(name, "interval")) return ok(billcore_product_changes_set_interval(to, text, err));
  }
  if (number != NULL && yyjson_equals_str(name, "vat_rate")) {
    return ok(billcore_product_changes_set_vat_rate(to, (billcore_str){number, yyjson_get_len(value)}, err));
  }
  if (number != NULL && yyjson_equals_str(name, "price") && strpbrk(number, ".eE") == NULL &&
      yyjson_get_len(value) < 19) {
    return ok(billcore_product_changes_set_price(to, strtoll(number, NULL, 10), err));
  }
  bytes json = json_of(value);
  const bool set = ok(billcore_product_changes_set_json(to, field, str_of(json), err));
  free(json.data);
  return set;
}

yyjson_mut_val* update_product(job* self) {
  billcore_product_changes* changes = NULL;
  billcore_product* out = NULL;
  yyjson_obj_iter fields = yyjson_obj_iter_with(yyjson_obj_get(self->args, "fields"));
  yyjson_val* name;
  int64_t id = 0;
  bool done = ok(billcore_product_changes_new(&changes, &self->err));
  while (done && (name = yyjson_obj_iter_next(&fields)) != NULL) {
    done = set_change(changes, name, yyjson_obj_iter_get_val(name), &self->err);
  }
  arg_integer(self->args, "id", &id);
  done = done && ok(billcore_product_update(self->driver->client, id, changes, NULL, &out, &self->err));
  billcore_product_changes_free(changes);
  return done ? put_product(self, out) : NULL;
}

static bool set_request_options(job* self, billcore_request_options* to) {
  yyjson_val* json = yyjson_obj_get(self->args, "json");
  yyjson_obj_iter query = yyjson_obj_iter_with(yyjson_obj_get(self->args, "query"));
  yyjson_val* name;
  while ((name = yyjson_obj_iter_next(&query)) != NULL) {
    yyjson_val* value = yyjson_obj_iter_get_val(name);
    const char* text = yyjson_is_raw(value) ? yyjson_get_raw(value) : yyjson_get_str(value);
    const billcore_str parameter = {yyjson_get_str(name), yyjson_get_len(name)};
    if (!ok(billcore_request_options_add_query(to, parameter, (billcore_str){text, yyjson_get_len(value)}, &self->err)))
      return false;
  }
  if (!arg_flag(self->args, "raise_on_error", true) &&
      !ok(billcore_request_options_accept_all_statuses(to, &self->err))) {
    return false;
  }
  if (json == NULL) return true;
  bytes body = json_of(json);
  const bool set = ok(billcore_request_options_set_json(to, str_of(body), &self->err));
  free(body.data);
  return set;
}

yyjson_mut_val* send_request(job* self) {
  billcore_request_options* options = NULL;
  billcore_response* out = NULL;
  const bool done = ok(billcore_request_options_new(&options, &self->err)) && set_request_options(self, options) &&
                    ok(billcore_client_request(self->driver->client, arg_text(self->args, "method"),
                                               arg_text(self->args, "path"), options, NULL, &out, &self->err));
  billcore_request_options_free(options);
  return done ? put_response(self, out) : NULL;
}
