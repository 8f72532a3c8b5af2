/* Reads a whole list in one of the ways that the driver protocol names; see tests/conformance/README.md. */
#include <billcore/arrow.h>
#include <string.h>

#include "wire_driver.h"

/* State of reading one list. `items` is the array of the reply. */
typedef struct reading {
  job* job;
  billcore_list* list;
  yyjson_mut_val* items;
} reading;

/* Frees the item after its JSON is in the reply. */
static billcore_status keep(reading* self, billcore_resource* item) {
  billcore_str raw;
  const billcore_status status = billcore_resource_raw(item, &raw, &self->job->err);
  if (ok(status)) yyjson_mut_arr_append(self->items, put_json(self->job->reply, raw));
  billcore_resource_free(item);
  return status;
}

/* On a loop, fetches the next page, unless the list has unread items. */
static billcore_status arrive(reading* self) {
  const driver* on = self->job->driver;
  billcore_result* none = NULL;
  if (!on->on_loop) return BILLCORE_OK;
  const billcore_status status = billcore_loop_fetch(on->loop, self->list, NULL, NULL, NULL, NULL, &self->job->err);
  return ok(status) ? end_of_call(self->job, &none) : status;
}

static billcore_status next(reading* self) {
  billcore_resource* item = NULL;
  billcore_status status = arrive(self);
  if (ok(status)) status = billcore_list_next(self->list, &item, &self->job->err);
  return ok(status) ? keep(self, item) : status;
}

static billcore_status keep_first(reading* self) {
  billcore_resource* item = NULL;
  billcore_status status = arrive(self);
  if (ok(status)) status = billcore_list_first(self->list, &item, &self->job->err);
  return ok(status) ? keep(self, item) : status;
}

static billcore_status keep_page(reading* self, billcore_page* page, size_t* count) {
  billcore_status status = billcore_page_count(page, count, &self->job->err);
  for (size_t i = 0; ok(status) && i < *count; ++i) {
    billcore_resource* item = NULL;
    status = billcore_page_at(page, i, &item, &self->job->err);
    if (ok(status)) status = keep(self, item);
  }
  billcore_page_free(page);
  return status;
}

static billcore_status next_page(reading* self) {
  billcore_page* page = NULL;
  size_t count = 0;
  billcore_status status = arrive(self);
  if (ok(status)) status = billcore_list_next_page(self->list, &page, &self->job->err);
  return ok(status) ? keep_page(self, page, &count) : status;
}

/* An item, then a page. */
static billcore_status next_item_and_page(reading* self) {
  const billcore_status status = next(self);
  if (!ok(status)) return status;
  const billcore_status then = next_page(self);
  return then == BILLCORE_DONE ? BILLCORE_OK : then;
}

static billcore_status peek_and_skip(reading* self) {
  billcore_page* page = NULL;
  size_t count = 0;
  billcore_status status = arrive(self);
  if (ok(status)) status = billcore_list_peek_page(self->list, &page, &self->job->err);
  if (ok(status)) status = keep_page(self, page, &count);
  return ok(status) ? billcore_list_skip(self->list, count, &self->job->err) : status;
}

static void keep_ids(reading* self, const struct ArrowArray* ids) {
  yyjson_mut_doc* reply = self->job->reply;
  const unsigned char* valid = ids->buffers[0];
  const int32_t* ends = ids->buffers[1];
  for (int64_t row = 0; row < ids->length; ++row) {
    yyjson_mut_val* item = yyjson_mut_arr_add_obj(reply, self->items);
    if (valid != NULL && (valid[row / 8] >> (row % 8) & 1) == 0) continue;
    const char* text = (const char*)ids->buffers[2] + ends[row];
    yyjson_mut_obj_add_strncpy(reply, item, "id", text, (size_t)(ends[row + 1] - ends[row]));
  }
}

/* The items of an Arrow batch have only their ids. */
static billcore_status next_batch(reading* self) {
  struct ArrowArray array;
  struct ArrowSchema schema;
  billcore_status status = arrive(self);
  if (ok(status)) status = billcore_list_next_arrow(self->list, &array, &schema, &self->job->err);
  if (!ok(status)) return status;
  for (int64_t i = 0; i < schema.n_children; ++i) {
    if (strcmp(schema.children[i]->name, "id") == 0) keep_ids(self, array.children[i]);
  }
  array.release(&array);
  schema.release(&schema);
  return status;
}

/* Reads the first item, then all items, the first of which must be the same. */
static billcore_status first_and_all(reading* self) {
  billcore_resource* item = NULL;
  billcore_str raw = {"", 0};
  billcore_status status = arrive(self);
  if (ok(status)) status = billcore_list_first(self->list, &item, &self->job->err);
  const bool found = ok(status) && ok(billcore_resource_raw(item, &raw, &self->job->err));
  while (ok(status) || (status == BILLCORE_DONE && !found)) {
    status = next(self);
    if (status == BILLCORE_DONE) break;
  }
  yyjson_mut_val* first = found && status == BILLCORE_DONE ? put_json(self->job->reply, raw) : NULL;
  if (first != NULL && !yyjson_mut_equals(first, yyjson_mut_arr_get_first(self->items))) {
    self->job->problem = "the first item is another one";
    status = BILLCORE_ERROR_INTERNAL;
  }
  billcore_resource_free(item);
  return status;
}

static billcore_status read_whole_list(job* self, billcore_list* list, const char* way, yyjson_mut_val* items) {
  static const struct {
    const char* way;
    billcore_status (*step)(reading* self);
  } ways[] = {
      {"all", next},           {"first-all", first_and_all}, {"pages", next_page}, {"mixed", next_item_and_page},
      {"peek", peek_and_skip}, {"batches", next_batch},
  };
  reading reading = {self, list, items};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
    if (strcmp(way, ways[i].way) != 0) continue;
    billcore_status status = BILLCORE_OK;
    while (ok(status)) status = ways[i].step(&reading);
    return status;
  }
  self->problem = "the driver knows no such take";
  return BILLCORE_ERROR_INTERNAL;
}

static void add_or_null(yyjson_mut_doc* reply, yyjson_mut_val* to, const char* name, yyjson_mut_val* value) {
  yyjson_mut_obj_add_val(reply, to, name, value != NULL ? value : yyjson_mut_null(reply));
}

/* Reads what the request's `take` states, frees the list, and returns the reply. */
yyjson_mut_val* read_list(job* self, billcore_list* list) {
  yyjson_mut_doc* reply = self->reply;
  yyjson_val* take = yyjson_obj_get(self->request, "take");
  const bool first = yyjson_equals_str(take, "first");
  reading reading = {self, list, yyjson_mut_arr(reply)};
  yyjson_mut_val* out = yyjson_mut_obj(reply);
  billcore_status status = BILLCORE_OK;
  int64_t limit = INT64_MAX;
  int64_t total = 0;
  int64_t fetched = 0;
  bool has_total = false;
  bool has_verdict = false;
  bool complete = false;
  billcore_str reason = {NULL, 0};
  arg_integer(self->request, "take", &limit);
  self->items = reading.items;
  if (yyjson_is_str(take) && !first) status = read_whole_list(self, list, yyjson_get_str(take), reading.items);
  if (first) status = keep_first(&reading);
  while (!first && ok(status) && (int64_t)yyjson_mut_arr_size(reading.items) < limit) status = next(&reading);
  if (ok(status) && !first) status = billcore_list_stop(list, &self->err);
  if (status == BILLCORE_DONE) status = BILLCORE_OK;
  if (billcore_list_state(list, &self->state, ok(status) ? &self->err : NULL) != BILLCORE_OK)
    status = BILLCORE_ERROR_INTERNAL;
  if (ok(status)) status = billcore_list_total(list, &total, &has_total, &self->err);
  if (ok(status)) status = billcore_list_fetched_pages(list, &fetched, &self->err);
  if (ok(status)) status = billcore_list_verdict(list, &complete, &reason, &has_verdict, &self->err);
  yyjson_mut_obj_add_val(reply, out, "items", reading.items);
  yyjson_mut_val* verdict = yyjson_mut_str(reply, complete ? "complete" : "possibly_missed");
  add_or_null(reply, out, "verdict", has_verdict ? verdict : NULL);
  add_or_null(reply, out, "reason", has_verdict && !complete ? put_text(reply, reason) : NULL);
  add_or_null(reply, out, "total", has_total ? yyjson_mut_int(reply, total) : NULL);
  yyjson_mut_obj_add_int(reply, out, "fetched_pages", fetched);
  yyjson_mut_obj_add_strncpy(reply, out, "state", self->state.data, self->state.len);
  billcore_list_free(list);
  return ok(status) ? out : NULL;
}
