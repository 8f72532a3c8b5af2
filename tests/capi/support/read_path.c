/* Calls the typed getter that a path names, for every field of every resource. Uses only billcore.h. */
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

static yyjson_mut_val* put_id(yyjson_mut_doc* reply, billcore_str text, bool is_integer) {
  yyjson_mut_val* out = yyjson_mut_obj(reply);
  yyjson_mut_obj_add_val(reply, out, "id", put_text(reply, text));
  yyjson_mut_obj_add_bool(reply, out, "is_integer", is_integer);
  return out;
}

static yyjson_mut_val* put_time(yyjson_mut_doc* reply, billcore_str text, int64_t unix_micros) {
  yyjson_mut_val* out = yyjson_mut_obj(reply);
  yyjson_mut_obj_add_val(reply, out, "text", put_text(reply, text));
  yyjson_mut_obj_add_int(reply, out, "unix_micros", unix_micros);
  return out;
}

/* Reads the field that `step` names, with a call that sets `out`, and perhaps `more` and `present`. If the path names the
 * field, the enclosing function returns its value, or NULL and sets *err. The macros use the variables `self`, `reply`,
 * `p` and `err` of the enclosing function. */
#define READ(step, type, call, value) \
  if (take(&p, step)) {               \
    type out;                         \
    return ok(call) ? (value) : NULL; \
  }
#define READ_WITH(step, type, more_type, call, value) \
  if (take(&p, step)) {                               \
    type out;                                         \
    more_type more;                                   \
    return ok(call) ? (value) : NULL;                 \
  }
#define GET(resource, field, ...) billcore_##resource##_##field(self, __VA_ARGS__, err)
#define TEXT(resource, field) READ(#field, billcore_str, GET(resource, field, &out), put_text(reply, out))
#define NULLABLE_TEXT_AS(resource, field, step)                          \
  READ_WITH(step, billcore_str, bool, GET(resource, field, &out, &more), \
            more ? put_text(reply, out) : yyjson_mut_null(reply))
#define NULLABLE_TEXT(resource, field) NULLABLE_TEXT_AS(resource, field, #field)
#define INTEGER(resource, field) READ(#field, int64_t, GET(resource, field, &out), yyjson_mut_int(reply, out))
#define BOOLEAN(resource, field) READ(#field, bool, GET(resource, field, &out), yyjson_mut_bool(reply, out))
#define JSON(resource, field) READ(#field, billcore_value*, GET(resource, field, &out), put_value(reply, out))
#define ID(resource, field) \
  READ_WITH(#field, billcore_str, bool, GET(resource, field, &out, &more), put_id(reply, out, more))
#define TIME(resource, field) \
  READ_WITH(#field, billcore_str, int64_t, GET(resource, field, &out, &more), put_time(reply, out, more))
#define NULLABLE_TIME(resource, field)                                      \
  if (take(&p, #field)) {                                                   \
    billcore_str out;                                                       \
    int64_t micros;                                                         \
    bool present;                                                           \
    if (!ok(GET(resource, field, &out, &micros, &present))) return NULL;    \
    return present ? put_time(reply, out, micros) : yyjson_mut_null(reply); \
  }
/* Reads the list of custom fields: the whole list as received, or one custom field by its index. */
#define CUSTOM_FIELDS(resource)                                                  \
  if (take(&p, "custom_fields")) {                                               \
    size_t count;                                                                \
    billcore_custom_field* item;                                                 \
    if (!ok(GET(resource, custom_fields_count, &count))) return NULL;            \
    if (at_end(p)) return any_field(reply, self, "custom_fields", err);          \
    if (!ok(GET(resource, custom_field_at, take_index(&p), &item))) return NULL; \
    yyjson_mut_val* out = read_custom_field(reply, item, p, err);                \
    billcore_custom_field_free(item);                                            \
    return out;                                                                  \
  }

/* The look-ups by name that every resource has; `self` is a typed handle. */
static yyjson_mut_val* any_field(yyjson_mut_doc* reply, const void* self, const char* name, billcore_error** err) {
  billcore_value* out;
  bool present;
  if (!ok(billcore_resource_field(self, billcore_str_from(name), &out, &present, err))) return NULL;
  return present ? put_value(reply, out) : yyjson_mut_null(reply);
}

static yyjson_mut_val* read_custom_field(yyjson_mut_doc* reply, const billcore_custom_field* self, path p,
                                         billcore_error** err) {
  INTEGER(custom_field, id)
  TEXT(custom_field, label)
  TEXT(custom_field, type)
  JSON(custom_field, value)
  billcore_str raw;
  return ok(billcore_custom_field_raw(self, &raw, err)) ? put_json(reply, raw) : NULL;
}

static yyjson_mut_val* read_subscription(yyjson_mut_doc* reply, const billcore_subscription* self, path p,
                                         billcore_error** err) {
  ID(subscription, id)
  INTEGER(subscription, price)
  INTEGER(subscription, vat)
  TEXT(subscription, currency)
  TIME(subscription, created_at)
  NULLABLE_TIME(subscription, renews_at)
  NULLABLE_TIME(subscription, ends_at)
  NULLABLE_TIME(subscription, trial_ends_at)
  NULLABLE_TEXT(subscription, reference_id)
  NULLABLE_TEXT(subscription, reference_name)
  TEXT(subscription, status)
  TEXT(subscription, update_card_url)
  TEXT(subscription, invoices_url)
  TEXT(subscription, cancel_url)
  JSON(subscription, metadata)
  CUSTOM_FIELDS(subscription)
  return any_field(reply, self, p.rest, err);
}

static yyjson_mut_val* read_delivery(yyjson_mut_doc* reply, const billcore_order* self, path p, billcore_error** err) {
  billcore_value* delivery;
  bool present;
  billcore_kind kind = BILLCORE_KIND_NULL;
  NULLABLE_TEXT_AS(order, delivery_link, "link")
  if (!ok(billcore_order_field(self, BILLCORE_STR("delivery"), &delivery, &present, err))) return NULL;
  if (!present) return yyjson_mut_null(reply);
  if (!ok(billcore_value_kind(delivery, &kind, err))) return NULL;
  if (kind == BILLCORE_KIND_OBJECT || kind == BILLCORE_KIND_NULL) return put_value(reply, delivery);
  /* `delivery` is not an object: let the typed getter report the error. */
  billcore_value_free(delivery);
  p.rest = "link";
  NULLABLE_TEXT_AS(order, delivery_link, "link")
  return NULL;
}

static yyjson_mut_val* read_order(yyjson_mut_doc* reply, const billcore_order* self, path p, billcore_error** err) {
  ID(order, id)
  TIME(order, created_at)
  INTEGER(order, total)
  INTEGER(order, total_with_vat)
  TEXT(order, currency)
  NULLABLE_TEXT(order, reference_id)
  NULLABLE_TEXT(order, reference_name)
  TEXT(order, state)
  NULLABLE_TEXT(order, remote_id)
  JSON(order, metadata)
  CUSTOM_FIELDS(order)
  if (take(&p, "delivery")) return read_delivery(reply, self, p, err);
  return any_field(reply, self, p.rest, err);
}

static yyjson_mut_val* read_images(yyjson_mut_doc* reply, const billcore_product* self, path p, billcore_error** err) {
  size_t count;
  billcore_str src;
  billcore_image* image;
  if (!ok(billcore_product_images_count(self, &count, err))) return NULL;
  if (at_end(p)) return any_field(reply, self, "images", err);
  if (!ok(billcore_product_image_at(self, take_index(&p), &image, err))) return NULL;
  const bool is_portrait = take(&p, "portrait");
  const bool read =
      ok(is_portrait ? billcore_image_portrait_src(image, &src, err) : billcore_image_square_src(image, &src, err));
  yyjson_mut_val* out = read ? put_text(reply, src) : NULL;
  billcore_image_free(image);
  return out;
}

static yyjson_mut_val* read_strings(yyjson_mut_doc* reply, const billcore_product* self, path p, billcore_error** err) {
  TEXT(product_strings, interval)
  TEXT(product_strings, type)
  NULLABLE_TEXT(product_strings, price)
  NULLABLE_TEXT(product_strings, price_with_vat)
  NULLABLE_TEXT(product_strings, price_without_vat)
  billcore_value* whole;
  return ok(billcore_product_strings(self, &whole, err)) ? put_value(reply, whole) : NULL;
}

static yyjson_mut_val* read_product(yyjson_mut_doc* reply, const billcore_product* self, path p, billcore_error** err) {
  INTEGER(product, id)
  TEXT(product, name)
  NULLABLE_TEXT(product, description)
  TEXT(product, type)
  INTEGER(product, price)
  INTEGER(product, price_with_vat)
  INTEGER(product, price_without_vat)
  TEXT(product, currency)
  TEXT(product, vat_rate)
  NULLABLE_TEXT(product, interval)
  NULLABLE_TEXT(product, image)
  BOOLEAN(product, use_cart)
  BOOLEAN(product, stock_tracking)
  BOOLEAN(product, out_of_stock)
  if (take(&p, "images")) return read_images(reply, self, p, err);
  if (take(&p, "strings")) return read_strings(reply, self, p, err);
  return any_field(reply, self, p.rest, err);
}

static yyjson_mut_val* read_product_group(yyjson_mut_doc* reply, const billcore_product_group* self, path p,
                                          billcore_error** err) {
  INTEGER(product_group, id)
  TEXT(product_group, name)
  if (!take(&p, "products")) return any_field(reply, self, p.rest, err);
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

static yyjson_mut_val* read_event(yyjson_mut_doc* reply, const billcore_event* self, path p, billcore_error** err) {
  ID(event, id)
  TEXT(event, name)
  INTEGER(event, account)
  TIME(event, created_at)
  return yyjson_mut_str(reply, "the driver knows no such path");
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

/* Reads a field with its typed getter. */
static yyjson_mut_val* read_typed(yyjson_mut_doc* reply, const void* self, billcore_data_kind kind, path p,
                                  billcore_error** err) {
  switch (kind) {
    case BILLCORE_DATA_SUBSCRIPTION:
      return read_subscription(reply, self, p, err);
    case BILLCORE_DATA_ORDER:
      return read_order(reply, self, p, err);
    case BILLCORE_DATA_PRODUCT:
      return read_product(reply, self, p, err);
    default:
      return read_product_group(reply, self, p, err);
  }
}

static yyjson_mut_val* read_data(yyjson_mut_doc* reply, const billcore_event* event, path p, const char* has, bool raw,
                                 billcore_error** err) {
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
    out = read_typed(reply, self, kind, p, err);
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
    out = read_event(reply, event, p, &err);
  }
  if (out == NULL) {
    out = yyjson_mut_obj(reply);
    yyjson_mut_obj_add_val(reply, out, "error", put_error(reply, err));
  }
  billcore_error_free(err);
  return out;
}
