/* The operations get_many of the driver: many reads at once; see tests/conformance/README.md. */
#include <string.h>

#include "wire_driver.h"

/* Adds the read of an id: an integer for products, a text for all others. */
static bool add(job* self, billcore_many* many, billcore_str name, yyjson_val* id, uint64_t number) {
  billcore_operation* read = NULL;
  int64_t integer = 0;
  const billcore_str argument = BILLCORE_STR("id");
  const bool is_product = strncmp(name.data, "products.", 9) == 0 && integer_of(id, &integer);
  const bool added = ok(billcore_operation_new(name, &read, &self->err)) &&
                     ok(is_product ? billcore_operation_set_int64(read, argument, integer, &self->err)
                                   : billcore_operation_set_text(read, argument, text_of(id), &self->err)) &&
                     ok(billcore_many_add(many, read, number, &self->err));
  billcore_operation_free(read);
  return added;
}

/* Puts the next result beside its id. */
static bool take(job* self, billcore_many* many, yyjson_val* ids) {
  yyjson_mut_doc* reply = self->reply;
  uint64_t number = 0;
  billcore_result* result = NULL;
  billcore_error* failure = NULL;
  if (!ok(billcore_many_next(many, &number, &result, &failure, &self->err))) return false;
  yyjson_mut_val* one = yyjson_mut_arr_add_obj(reply, self->items);
  yyjson_mut_obj_add_val(reply, one, "id", yyjson_val_mut_copy(reply, yyjson_arr_get(ids, number)));
  yyjson_mut_val* value = failure != NULL ? put_error(reply, failure) : put_result(self, &result);
  yyjson_mut_obj_add_val(reply, one, failure != NULL ? "error" : "ok", value);
  billcore_result_free(result);
  billcore_error_free(failure);
  return value != NULL;
}

yyjson_mut_val* run_many(job* self, billcore_str read) {
  yyjson_val* ids = yyjson_obj_get(self->args, "ids");
  yyjson_val* ordered = yyjson_obj_get(self->args, "ordered");
  const uint64_t count = yyjson_arr_size(ids);
  int64_t concurrency = 16;
  billcore_many* many = NULL;
  arg_integer(self->args, "concurrency", &concurrency);
  bool good = ok(billcore_many_new(self->driver->client, (int32_t)concurrency,
                                   ordered == NULL || yyjson_get_bool(ordered), self->call, &many, &self->err));
  self->items = yyjson_mut_arr(self->reply);
  uint64_t added = 0;
  for (uint64_t taken = 0; good && taken < count; ++taken) {
    for (; good && added < count && billcore_many_wants(many); ++added) {
      good = add(self, many, read, yyjson_arr_get(ids, added), added);
    }
    good = good && take(self, many, ids);
  }
  billcore_many_free(many);
  return good ? self->items : NULL;
}
