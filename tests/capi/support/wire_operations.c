/* The operations of the client. */
#include <stdlib.h>
#include <string.h>

#include "wire_driver.h"

static bool ok(billcore_status status) { return status == BILLCORE_OK; }

#define PUT_RESOURCE(resource)                                                                     \
  static yyjson_mut_val* put_##resource(job* self, billcore_##resource* result) {                  \
    billcore_str raw;                                                                              \
    yyjson_mut_val* out = NULL;                                                                    \
    if (ok(billcore_##resource##_raw(result, &raw, &self->err))) out = put_json(self->reply, raw); \
    billcore_##resource##_free(result);                                                            \
    return out;                                                                                    \
  }
PUT_RESOURCE(subscription)
PUT_RESOURCE(order)
PUT_RESOURCE(product)

static yyjson_mut_val* put_response(job* self, billcore_response* response) {
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

/* Reads a list as `take` says, frees it, and gives the reply. */
#define READ_LIST(resource)                                                                                          \
  static yyjson_mut_val* read_##resource##_list(job* self, billcore_##resource##_list* list) {                       \
    yyjson_mut_doc* reply = self->reply;                                                                             \
    yyjson_val* take = yyjson_obj_get(self->request, "take");                                                        \
    const bool first = yyjson_equals_str(take, "first");                                                             \
    int64_t limit = INT64_MAX;                                                                                       \
    yyjson_mut_val* items = yyjson_mut_arr(reply);                                                                   \
    yyjson_mut_val* out = yyjson_mut_obj(reply);                                                                     \
    billcore_##resource* item = NULL;                                                                                \
    billcore_status status = BILLCORE_OK;                                                                            \
    int64_t total = 0;                                                                                               \
    int64_t fetched = 0;                                                                                             \
    bool has_total = false;                                                                                          \
    bool has_verdict = false;                                                                                        \
    bool complete = false;                                                                                           \
    billcore_str reason = {NULL, 0};                                                                                 \
    arg_integer(self->request, "take", &limit);                                                                      \
    self->listing = true;                                                                                            \
    while (status == BILLCORE_OK && (int64_t)yyjson_mut_arr_size(items) < (first ? 1 : limit)) {                     \
      status = first ? billcore_##resource##_list_first(list, &item, &self->err)                                     \
                     : billcore_##resource##_list_next(list, &item, &self->err);                                     \
      if (status == BILLCORE_OK) yyjson_mut_arr_append(items, put_##resource(self, item));                           \
    }                                                                                                                \
    self->items_before = yyjson_mut_arr_size(items);                                                                 \
    if (status == BILLCORE_OK && !first) status = billcore_##resource##_list_stop(list, &self->err);                 \
    if (status == BILLCORE_DONE) status = BILLCORE_OK;                                                               \
    if (billcore_##resource##_list_state(list, &self->state, ok(status) ? &self->err : NULL) != BILLCORE_OK)         \
      status = BILLCORE_ERROR_INTERNAL;                                                                              \
    if (ok(status)) status = billcore_##resource##_list_total(list, &total, &has_total, &self->err);                 \
    if (ok(status)) status = billcore_##resource##_list_fetched_pages(list, &fetched, &self->err);                   \
    if (ok(status)) status = billcore_##resource##_list_verdict(list, &complete, &reason, &has_verdict, &self->err); \
    yyjson_mut_obj_add_val(reply, out, "items", items);                                                              \
    /* A value has one place: a null for each. */                                                                    \
    yyjson_mut_val* none = yyjson_mut_null(reply);                                                                   \
    yyjson_mut_val* verdict = yyjson_mut_str(reply, complete ? "complete" : "possibly_missed");                      \
    yyjson_mut_obj_add_val(reply, out, "verdict", has_verdict ? verdict : none);                                     \
    none = yyjson_mut_null(reply);                                                                                   \
    yyjson_mut_obj_add_val(reply, out, "reason", has_verdict && !complete ? put_text(reply, reason) : none);         \
    none = yyjson_mut_null(reply);                                                                                   \
    yyjson_mut_obj_add_val(reply, out, "total", has_total ? yyjson_mut_int(reply, total) : none);                    \
    yyjson_mut_obj_add_int(reply, out, "fetched_pages", fetched);                                                    \
    yyjson_mut_obj_add_strncpy(reply, out, "state", self->state.data, self->state.len);                              \
    billcore_##resource##_list_free(list);                                                                           \
    return ok(status) ? out : NULL;                                                                                  \
  }
READ_LIST(subscription)
READ_LIST(order)
READ_LIST(product)

/* What every list takes. */
#define SET_QUERY(resource)                                                                                            \
  static bool set_##resource##_query(job* self, billcore_##resource##_query* query) {                                  \
    const billcore_str resume = arg_text(self->args, "resume");                                                        \
    int64_t page;                                                                                                      \
    if (arg_integer(self->args, "page", &page) && !ok(billcore_##resource##_query_set_page(query, page, &self->err)))  \
      return false;                                                                                                    \
    if (arg_flag(self->args, "strict", false) && !ok(billcore_##resource##_query_set_strict(query, true, &self->err))) \
      return false;                                                                                                    \
    return resume.data == NULL || ok(billcore_##resource##_query_set_resume(query, resume, &self->err));               \
  }
SET_QUERY(subscription)
SET_QUERY(order)
SET_QUERY(product)

static yyjson_mut_val* list_subscriptions(job* self) {
  billcore_subscription_query* query = NULL;
  billcore_subscription_list* list = NULL;
  const billcore_str reference = arg_text(self->args, "reference_id");
  bool made = ok(billcore_subscription_query_new(&query, &self->err)) && set_subscription_query(self, query);
  if (made && reference.data) made = ok(billcore_subscription_query_set_reference_id(query, reference, &self->err));
  made = made && ok(billcore_subscription_list_new(self->driver->client, query, NULL, &list, &self->err));
  billcore_subscription_query_free(query);
  return made ? read_subscription_list(self, list) : NULL;
}

static yyjson_mut_val* list_products(job* self) {
  billcore_product_query* query = NULL;
  billcore_product_list* list = NULL;
  bool made = ok(billcore_product_query_new(&query, &self->err)) && set_product_query(self, query);
  made = made && ok(billcore_product_list_new(self->driver->client, query, NULL, &list, &self->err));
  billcore_product_query_free(query);
  return made ? read_product_list(self, list) : NULL;
}

static bool add_states(billcore_order_query* query, yyjson_val* state, billcore_error** err) {
  yyjson_arr_iter several = yyjson_arr_iter_with(state);
  yyjson_val* one = yyjson_is_str(state) ? state : yyjson_arr_iter_next(&several);
  for (; one != NULL; one = yyjson_arr_iter_next(&several)) {
    if (!ok(billcore_order_query_add_state(query, (billcore_str){yyjson_get_str(one), yyjson_get_len(one)}, err)))
      return false;
  }
  return true;
}

static yyjson_mut_val* list_orders(job* self) {
  billcore_order_query* query = NULL;
  billcore_order_list* list = NULL;
  int64_t number;
  bool made = ok(billcore_order_query_new(&query, &self->err)) && set_order_query(self, query) &&
              add_states(query, yyjson_obj_get(self->args, "state"), &self->err);
  if (made && arg_integer(self->args, "product_id", &number))
    made = ok(billcore_order_query_set_product_id(query, number, &self->err));
  if (made && arg_integer(self->args, "per_page", &number))
    made = ok(billcore_order_query_set_per_page(query, number, &self->err));
  made = made && ok(billcore_subscription_orders_new(self->driver->client, arg_text(self->args, "id"), query, NULL,
                                                     &list, &self->err));
  billcore_order_query_free(query);
  return made ? read_order_list(self, list) : NULL;
}

static yyjson_mut_val* get_subscription(job* self) {
  billcore_subscription* out;
  if (!ok(billcore_subscription_get(self->driver->client, arg_text(self->args, "id"), NULL, &out, &self->err)))
    return NULL;
  return put_subscription(self, out);
}

static yyjson_mut_val* cancel_subscription(job* self) {
  billcore_subscription* out;
  if (!ok(billcore_subscription_cancel(self->driver->client, arg_text(self->args, "id"), NULL, &out, &self->err)))
    return NULL;
  return put_subscription(self, out);
}

static yyjson_mut_val* change_product(job* self) {
  billcore_subscription* out;
  int64_t product = 0;
  arg_integer(self->args, "product_id", &product);
  if (!ok(billcore_subscription_change_product(self->driver->client, arg_text(self->args, "id"), product, NULL, &out,
                                               &self->err))) {
    return NULL;
  }
  return put_subscription(self, out);
}

static yyjson_mut_val* charge(job* self) {
  billcore_charge_options* options = NULL;
  billcore_order* out = NULL;
  const billcore_str description = arg_text(self->args, "description");
  int64_t product = 0;
  int64_t amount = 0;
  int64_t number;
  bool done = ok(billcore_charge_options_new(&options, &self->err));
  if (done && arg_integer(self->args, "quantity", &number))
    done = ok(billcore_charge_options_set_quantity(options, number, &self->err));
  if (done && arg_integer(self->args, "vat", &number))
    done = ok(billcore_charge_options_set_vat(options, number, &self->err));
  if (done && description.data) done = ok(billcore_charge_options_set_description(options, description, &self->err));
  arg_integer(self->args, "product_id", &product);
  arg_integer(self->args, "amount", &amount);
  done = done && ok(billcore_subscription_charge(self->driver->client, arg_text(self->args, "id"), product, amount,
                                                 options, NULL, &out, &self->err));
  billcore_charge_options_free(options);
  return done ? put_order(self, out) : NULL;
}

static yyjson_mut_val* get_product(job* self) {
  billcore_product* out;
  int64_t id = 0;
  arg_integer(self->args, "id", &id);
  if (!ok(billcore_product_get(self->driver->client, id, NULL, &out, &self->err))) return NULL;
  return put_product(self, out);
}

/* One field of an update, through the typed setter where its value is of the table's type. */
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

static yyjson_mut_val* update_product(job* self) {
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

static yyjson_mut_val* delete_product(job* self) {
  int64_t id = 0;
  arg_integer(self->args, "id", &id);
  return ok(billcore_product_delete(self->driver->client, id, NULL, &self->err)) ? yyjson_mut_null(self->reply) : NULL;
}

static yyjson_mut_val* get_order(job* self) {
  billcore_order* out;
  if (!ok(billcore_order_get(self->driver->client, arg_text(self->args, "id"), NULL, &out, &self->err))) return NULL;
  return put_order(self, out);
}

static yyjson_mut_val* create_endpoint(job* self) {
  billcore_response* out;
  if (!ok(billcore_webhook_endpoint_create(self->driver->client, arg_text(self->args, "url"), NULL, &out,
                                           &self->err))) {
    return NULL;
  }
  return put_response(self, out);
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

static yyjson_mut_val* send_request(job* self) {
  billcore_request_options* options = NULL;
  billcore_response* out = NULL;
  const bool done = ok(billcore_request_options_new(&options, &self->err)) && set_request_options(self, options) &&
                    ok(billcore_client_request(self->driver->client, arg_text(self->args, "method"),
                                               arg_text(self->args, "path"), options, NULL, &out, &self->err));
  billcore_request_options_free(options);
  return done ? put_response(self, out) : NULL;
}

operation* find_operation(const char* op) {
  static const struct {
    const char* op;
    operation* run;
  } operations[] = {{"subscriptions.list", list_subscriptions},
                    {"subscriptions.get", get_subscription},
                    {"subscriptions.cancel", cancel_subscription},
                    {"subscriptions.change_product", change_product},
                    {"subscriptions.charge", charge},
                    {"subscriptions.orders", list_orders},
                    {"products.list", list_products},
                    {"products.get", get_product},
                    {"products.update", update_product},
                    {"products.delete", delete_product},
                    {"orders.get", get_order},
                    {"webhook_endpoints.create", create_endpoint},
                    {"request", send_request}};
  for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i) {
    if (strcmp(op, operations[i].op) == 0) return operations[i].run;
  }
  return NULL;
}
