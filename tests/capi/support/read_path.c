/* Calls the typed getter that a path names (see make_getters.py), for every field of every resource. */
#include <stdlib.h>
#include <string.h>

#include "json_reply.h"

/* The part of a dotted path that has not been followed yet. */
typedef struct path {
  const char* rest;
} path;

static bool at_end(path p) { return *p.rest == '\0'; }

/* If the first step of the path is `name`, removes it and returns true. */
static bool take(path* p, const char* name) {
  const size_t len = strlen(name);
  if (strncmp(p->rest, name, len) != 0 || (p->rest[len] != '.' && p->rest[len] != '\0')) return false;
  p->rest += p->rest[len] == '.' ? len + 1 : len;
  return true;
}

static size_t take_index(path* p) {
  char* end;
  const size_t index = strtoul(p->rest, &end, 10);
  p->rest = *end == '.' ? end + 1 : end;
  return index;
}

static bool ok(billcore_status status) { return status == BILLCORE_OK; }

/* The typed getter of the field that the rest of the path names, such as `delivery.link`: its result, or NULL. *err is
 * NULL if there is no such getter. */
static yyjson_mut_val* get_field(yyjson_mut_doc* reply, const char* resource, const void* self, path p,
                                 billcore_error** err) {
  char field[64] = "";
  for (size_t i = 0; i + 1 < sizeof field && p.rest[i] != '\0'; ++i) field[i] = p.rest[i] == '.' ? '_' : p.rest[i];
  *err = NULL;
  for (const getter* each = getters; each->resource != NULL; ++each) {
    if (strcmp(each->resource, resource) == 0 && strcmp(each->field, field) == 0) return each->get(reply, self, err);
  }
  return NULL;
}

/* Any field of a resource, by its name. */
static yyjson_mut_val* any_field(yyjson_mut_doc* reply, const billcore_resource* self, const char* name,
                                 billcore_error** err) {
  billcore_value* out;
  bool present;
  if (!ok(billcore_resource_field(self, billcore_str_from(name), &out, &present, err))) return NULL;
  return present ? put_value(reply, out) : yyjson_mut_null(reply);
}

/* Reads one custom field by its index: one of its fields, or its JSON. */
static yyjson_mut_val* read_custom_field(yyjson_mut_doc* reply, const billcore_resource* self, path p,
                                         billcore_error** err) {
  const billcore_str list = BILLCORE_STR("custom_fields");
  billcore_resource* item;
  billcore_str raw;
  if (!ok(billcore_resource_list_at(self, list, take_index(&p), &item, err))) return NULL;
  yyjson_mut_val* out = get_field(reply, "custom_field", item, p, err);
  if (out == NULL && at_end(p) && ok(billcore_resource_raw(item, &raw, err))) out = put_json(reply, raw);
  billcore_resource_free(item);
  return out;
}

static yyjson_mut_val* read_image(yyjson_mut_doc* reply, const billcore_product* self, path p, billcore_error** err) {
  billcore_image* image;
  if (!ok(billcore_product_image_at(self, take_index(&p), &image, err))) return NULL;
  yyjson_mut_val* out = get_field(reply, "image", image, p, err);
  billcore_image_free(image);
  return out;
}

static yyjson_mut_val* read_group(yyjson_mut_doc* reply, const billcore_product_group* self, billcore_error** err) {
  size_t count;
  if (!ok(billcore_product_group_products_count(self, &count, err))) return NULL;
  yyjson_mut_val* out = yyjson_mut_arr(reply);
  for (size_t i = 0; i < count; ++i) {
    int64_t id;
    if (!ok(billcore_product_group_product_at(self, i, &id, err))) return NULL;
    yyjson_mut_arr_add_int(reply, out, id);
  }
  return out;
}

/* Whether the value is a list of objects; if not, sets *err. */
static bool is_list(const billcore_resource* self, billcore_str name, billcore_error** err) {
  size_t count;
  return ok(billcore_resource_list_count(self, name, &count, err));
}

/* Reads a field with its typed getter. */
static yyjson_mut_val* read_typed(yyjson_mut_doc* reply, const char* resource, const void* self, path p,
                                  billcore_error** err) {
  static const char* const lists[] = {"custom_fields", "images"};
  const path whole = p;
  yyjson_mut_val* out = get_field(reply, resource, self, p, err);
  if (out != NULL || *err != NULL) return out;
  if (strcmp(resource, "product_group") == 0 && take(&p, "products")) return read_group(reply, self, err);
  for (int i = 0; i < 2; ++i) {
    if (!take(&p, lists[i])) continue;
    if (!is_list(self, billcore_str_from(lists[i]), err)) return NULL;
    if (!at_end(p)) return i == 0 ? read_custom_field(reply, self, p, err) : read_image(reply, self, p, err);
  }
  return any_field(reply, self, whole.rest, err);
}

/* Reads event data that has no typed view. */
static yyjson_mut_val* read_untyped(yyjson_mut_doc* reply, const billcore_event* event, path p, const char* has,
                                    bool raw, billcore_error** err) {
  billcore_value* data;
  billcore_value* found = NULL;
  billcore_str text = {NULL, 0};
  bool present;
  if (!ok(billcore_event_data(event, &data, &present, err))) return NULL;
  if (!present) return has != NULL ? yyjson_mut_bool(reply, false) : yyjson_mut_null(reply);
  if (has == NULL && !raw && at_end(p)) return put_value(reply, data);
  const bool read =
      ok(raw ? billcore_value_raw(data, &text, err)
             : billcore_value_find(data, billcore_str_from(has != NULL ? has : p.rest), &found, &present, err));
  yyjson_mut_val* out = NULL;
  if (read && raw) {
    out = put_text(reply, text);
  } else if (read && has != NULL) {
    out = yyjson_mut_bool(reply, present);
    billcore_value_free(found);
  } else if (read) {
    out = present ? put_value(reply, found) : yyjson_mut_null(reply);
  }
  billcore_value_free(data);
  return out;
}

static yyjson_mut_val* read_data(yyjson_mut_doc* reply, const billcore_event* event, path p, const char* has, bool raw,
                                 billcore_error** err) {
  static const char* const resources[] = {NULL, "subscription", "order", "product", "product_group"};
  billcore_data_kind kind;
  billcore_resource* self;
  billcore_str text;
  bool present;
  yyjson_mut_val* out = NULL;
  if (!ok(billcore_event_data_kind(event, &kind, err))) return NULL;
  const bool is_typed = kind != BILLCORE_DATA_NONE && kind <= BILLCORE_DATA_PRODUCT_GROUP;
  if (!is_typed || (has == NULL && !raw && at_end(p))) return read_untyped(reply, event, p, has, raw, err);
  if (!ok(billcore_event_resource(event, kind, &self, err))) return NULL;
  if (has != NULL) {
    if (ok(billcore_resource_contains(self, billcore_str_from(has), &present, err)))
      out = yyjson_mut_bool(reply, present);
  } else if (raw) {
    if (ok(billcore_resource_raw(self, &text, err))) out = put_text(reply, text);
  } else {
    out = read_typed(reply, resources[kind], self, p, err);
  }
  billcore_resource_free(self);
  return out;
}

static yyjson_mut_val* read_data_type(yyjson_mut_doc* reply, const billcore_event* event, billcore_error** err) {
  static const char* const names[] = {NULL, "Subscription", "Order", "Product", "ProductGroup", "Resource", "Value"};
  billcore_data_kind kind;
  if (!ok(billcore_event_data_kind(event, &kind, err))) return NULL;
  return names[kind] == NULL ? yyjson_mut_null(reply) : yyjson_mut_str(reply, names[kind]);
}

yyjson_mut_val* read_path(yyjson_mut_doc* reply, const billcore_event* event, const char* given) {
  billcore_error* err = NULL;
  yyjson_mut_val* out;
  path p = {given};
  if (strcmp(given, "data_type") == 0) {
    out = read_data_type(reply, event, &err);
  } else if (strncmp(given, "has:data.", 9) == 0) {
    out = read_data(reply, event, p, given + 9, false, &err);
  } else if (strcmp(given, "raw:data") == 0) {
    out = read_data(reply, event, p, NULL, true, &err);
  } else if (take(&p, "data")) {
    out = read_data(reply, event, p, NULL, false, &err);
  } else {
    out = get_field(reply, "event", event, p, &err);
    if (out == NULL && err == NULL) out = yyjson_mut_str(reply, "the driver knows no such path");
  }
  if (out == NULL) {
    out = yyjson_mut_obj(reply);
    yyjson_mut_obj_add_val(reply, out, "error", put_error(reply, err));
  }
  billcore_error_free(err);
  return out;
}
