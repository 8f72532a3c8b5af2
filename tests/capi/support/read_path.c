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

/* Each macro handles one field. If the path names the field, the enclosing function returns the value, or NULL and sets
 * *err. The macro uses the variables `self`, `reply`, `p` and `err` of the enclosing function. */
#define TEXT(resource, field)                                                                \
  if (take(&p, #field)) {                                                                    \
    billcore_str out;                                                                        \
    return ok(billcore_##resource##_##field(self, &out, err)) ? put_text(reply, out) : NULL; \
  }
#define NULLABLE_TEXT_AS(resource, field, step)                                     \
  if (take(&p, step)) {                                                             \
    billcore_str out;                                                               \
    bool present;                                                                   \
    if (!ok(billcore_##resource##_##field(self, &out, &present, err))) return NULL; \
    return present ? put_text(reply, out) : yyjson_mut_null(reply);                 \
  }
#define NULLABLE_TEXT(resource, field) NULLABLE_TEXT_AS(resource, field, #field)
#define INTEGER(resource, field)                                                                   \
  if (take(&p, #field)) {                                                                          \
    int64_t out;                                                                                   \
    return ok(billcore_##resource##_##field(self, &out, err)) ? yyjson_mut_int(reply, out) : NULL; \
  }
#define BOOLEAN(resource, field)                                                                    \
  if (take(&p, #field)) {                                                                           \
    bool out;                                                                                       \
    return ok(billcore_##resource##_##field(self, &out, err)) ? yyjson_mut_bool(reply, out) : NULL; \
  }
#define ID(resource, field)                                                                                         \
  if (take(&p, #field)) {                                                                                           \
    billcore_str out;                                                                                               \
    bool is_integer;                                                                                                \
    return ok(billcore_##resource##_##field(self, &out, &is_integer, err)) ? put_id(reply, out, is_integer) : NULL; \
  }
#define TIME(resource, field)                                                                                 \
  if (take(&p, #field)) {                                                                                     \
    billcore_str out;                                                                                         \
    int64_t micros;                                                                                           \
    return ok(billcore_##resource##_##field(self, &out, &micros, err)) ? put_time(reply, out, micros) : NULL; \
  }
#define NULLABLE_TIME(resource, field)                                                       \
  if (take(&p, #field)) {                                                                    \
    billcore_str out;                                                                        \
    int64_t micros;                                                                          \
    bool present;                                                                            \
    if (!ok(billcore_##resource##_##field(self, &out, &micros, &present, err))) return NULL; \
    return present ? put_time(reply, out, micros) : yyjson_mut_null(reply);                  \
  }
#define JSON(resource, field)                                                                 \
  if (take(&p, #field)) {                                                                     \
    billcore_value* out;                                                                      \
    return ok(billcore_##resource##_##field(self, &out, err)) ? put_value(reply, out) : NULL; \
  }
/* Reads the list of custom fields: the whole list as received, or one custom field by its index. */
#define CUSTOM_FIELDS(resource)                                                                     \
  if (take(&p, "custom_fields")) {                                                                  \
    size_t count;                                                                                   \
    if (!ok(billcore_##resource##_custom_fields_count(self, &count, err))) return NULL;             \
    if (at_end(p)) return any_field_of_##resource(reply, self, "custom_fields", err);               \
    billcore_custom_field* field;                                                                   \
    if (!ok(billcore_##resource##_custom_field_at(self, take_index(&p), &field, err))) return NULL; \
    yyjson_mut_val* out = read_custom_field(reply, field, p, err);                                  \
    billcore_custom_field_free(field);                                                              \
    return out;                                                                                     \
  }
/* Defines the look-ups by name that every resource has. */
#define LOOK_UPS(resource)                                                                                           \
  static yyjson_mut_val* any_field_of_##resource(yyjson_mut_doc* reply, const billcore_##resource* self,             \
                                                 const char* name, billcore_error** err) {                           \
    billcore_value* out;                                                                                             \
    bool present;                                                                                                    \
    if (!ok(billcore_##resource##_field(self, billcore_str_from(name), &out, &present, err))) return NULL;           \
    return present ? put_value(reply, out) : yyjson_mut_null(reply);                                                 \
  }                                                                                                                  \
  static yyjson_mut_val* has_in_##resource(yyjson_mut_doc* reply, const billcore_##resource* self, const char* name, \
                                           billcore_error** err) {                                                   \
    bool out;                                                                                                        \
    if (!ok(billcore_##resource##_contains(self, billcore_str_from(name), &out, err))) return NULL;                  \
    return yyjson_mut_bool(reply, out);                                                                              \
  }                                                                                                                  \
  static yyjson_mut_val* raw_of_##resource(yyjson_mut_doc* reply, const billcore_##resource* self,                   \
                                           billcore_error** err) {                                                   \
    billcore_str out;                                                                                                \
    return ok(billcore_##resource##_raw(self, &out, err)) ? put_text(reply, out) : NULL;                             \
  }

LOOK_UPS(subscription)
LOOK_UPS(order)
LOOK_UPS(product)
LOOK_UPS(product_group)

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
  return any_field_of_subscription(reply, self, p.rest, err);
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
  return any_field_of_order(reply, self, p.rest, err);
}

static yyjson_mut_val* read_images(yyjson_mut_doc* reply, const billcore_product* self, path p, billcore_error** err) {
  size_t count;
  billcore_str src;
  billcore_image* image;
  if (!ok(billcore_product_images_count(self, &count, err))) return NULL;
  if (at_end(p)) return any_field_of_product(reply, self, "images", err);
  if (!ok(billcore_product_image_at(self, take_index(&p), &image, err))) return NULL;
  yyjson_mut_val* out = NULL;
  if (take(&p, "portrait")) {
    if (ok(billcore_image_portrait_src(image, &src, err))) out = put_text(reply, src);
  } else if (ok(billcore_image_square_src(image, &src, err))) {
    out = put_text(reply, src);
  }
  billcore_image_free(image);
  return out;
}

static yyjson_mut_val* read_strings(yyjson_mut_doc* reply, const billcore_product* self, path p, billcore_error** err) {
  billcore_value* whole;
  TEXT(product_strings, interval)
  TEXT(product_strings, type)
  NULLABLE_TEXT(product_strings, price)
  NULLABLE_TEXT(product_strings, price_with_vat)
  NULLABLE_TEXT(product_strings, price_without_vat)
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
  return any_field_of_product(reply, self, p.rest, err);
}

static yyjson_mut_val* read_product_group(yyjson_mut_doc* reply, const billcore_product_group* self, path p,
                                          billcore_error** err) {
  INTEGER(product_group, id)
  TEXT(product_group, name)
  if (take(&p, "products")) {
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
  return any_field_of_product_group(reply, self, p.rest, err);
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
  if (raw) {
    if (!ok(billcore_value_raw(data, &text, err))) return NULL;
  } else if (!ok(billcore_value_find(data, billcore_str_from(has != NULL ? has : p.rest), &found, &present, err))) {
    return NULL;
  }
  yyjson_mut_val* out = raw           ? put_text(reply, text)
                        : has != NULL ? yyjson_mut_bool(reply, present)
                        : present     ? put_value(reply, found)
                                      : yyjson_mut_null(reply);
  if (has != NULL) billcore_value_free(found);
  billcore_value_free(data);
  return out;
}

/* Reads event data through its typed view. */
#define TYPED(resource)                                                                       \
  {                                                                                           \
    billcore_##resource* self;                                                                \
    yyjson_mut_val* out;                                                                      \
    if (!ok(billcore_event_##resource(event, &self, err))) return NULL;                       \
    if (has != NULL) {                                                                        \
      out = has_in_##resource(reply, self, has, err);                                         \
    } else {                                                                                  \
      out = raw ? raw_of_##resource(reply, self, err) : read_##resource(reply, self, p, err); \
    }                                                                                         \
    billcore_##resource##_free(self);                                                         \
    return out;                                                                               \
  }

static yyjson_mut_val* read_data(yyjson_mut_doc* reply, const billcore_event* event, path p, const char* has, bool raw,
                                 billcore_error** err) {
  billcore_data_kind kind;
  if (!ok(billcore_event_data_kind(event, &kind, err))) return NULL;
  if (has == NULL && !raw && at_end(p)) kind = BILLCORE_DATA_VALUE;
  switch (kind) {
    case BILLCORE_DATA_SUBSCRIPTION:
      TYPED(subscription)
    case BILLCORE_DATA_ORDER:
      TYPED(order)
    case BILLCORE_DATA_PRODUCT:
      TYPED(product)
    case BILLCORE_DATA_PRODUCT_GROUP:
      TYPED(product_group)
    default:
      return read_untyped(reply, event, p, has, raw, err);
  }
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
