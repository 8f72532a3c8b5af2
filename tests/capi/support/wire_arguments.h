/* Shared by the operations of the conformance driver: replies from resources, answers and lists. */
#ifndef WIRE_ARGUMENTS_H
#define WIRE_ARGUMENTS_H

#include "wire_driver.h"

static inline bool ok(billcore_status status) { return status == BILLCORE_OK; }

#define PUT_RESOURCE(resource)                                                                     \
  static yyjson_mut_val* put_##resource(job* self, billcore_##resource* result) {                  \
    billcore_str raw;                                                                              \
    yyjson_mut_val* out = NULL;                                                                    \
    if (ok(billcore_##resource##_raw(result, &raw, &self->err))) out = put_json(self->reply, raw); \
    billcore_##resource##_free(result);                                                            \
    return out;                                                                                    \
  }

/* Reads the rest of a list in the way that `way` names. Returns BILLCORE_DONE, or an error. */
billcore_status read_whole_list(job* self, billcore_list* list, const char* way, yyjson_mut_val* items);

/* Reads what the request's `take` states, frees the list, and returns the reply. */
#define READ_LIST(resource)                                                                                          \
  static yyjson_mut_val* read_##resource##_list(job* self, billcore_##resource##_list* list) {                       \
    yyjson_mut_doc* reply = self->reply;                                                                             \
    yyjson_val* take = yyjson_obj_get(self->request, "take");                                                        \
    const bool first = yyjson_equals_str(take, "first");                                                             \
    const bool whole = yyjson_is_str(take) && !first;                                                                \
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
    self->items = items;                                                                                             \
    if (whole) status = read_whole_list(self, (billcore_list*)list, yyjson_get_str(take), items);                    \
    while (status == BILLCORE_OK && (int64_t)yyjson_mut_arr_size(items) < (first ? 1 : limit)) {                     \
      status = first ? billcore_##resource##_list_first(list, &item, &self->err)                                     \
                     : billcore_##resource##_list_next(list, &item, &self->err);                                     \
      if (status == BILLCORE_OK) yyjson_mut_arr_append(items, put_##resource(self, item));                           \
    }                                                                                                                \
    if (status == BILLCORE_OK && !first) status = billcore_##resource##_list_stop(list, &self->err);                 \
    if (status == BILLCORE_DONE) status = BILLCORE_OK;                                                               \
    if (billcore_##resource##_list_state(list, &self->state, ok(status) ? &self->err : NULL) != BILLCORE_OK)         \
      status = BILLCORE_ERROR_INTERNAL;                                                                              \
    if (ok(status)) status = billcore_##resource##_list_total(list, &total, &has_total, &self->err);                 \
    if (ok(status)) status = billcore_##resource##_list_fetched_pages(list, &fetched, &self->err);                   \
    if (ok(status)) status = billcore_##resource##_list_verdict(list, &complete, &reason, &has_verdict, &self->err); \
    yyjson_mut_obj_add_val(reply, out, "items", items);                                                              \
    /* A yyjson value can have only one parent, so each member needs its own null. */                                \
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

/* Sets the options that every list has. */
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

/* Makes the reply from a response, and frees the response. */
yyjson_mut_val* put_response(job* self, billcore_response* response);

/* The hand-written operations of the driver. */
yyjson_mut_val* update_product(job* self);
yyjson_mut_val* send_request(job* self);

#endif
