#include "json_reply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

billcore_str text_of(yyjson_val* value) {
  return (billcore_str){yyjson_is_raw(value) ? yyjson_get_raw(value) : yyjson_get_str(value), yyjson_get_len(value)};
}

/* The driver's JSON parser keeps numbers as text, so that they keep their digits. */
bool integer_of(yyjson_val* value, int64_t* out) {
  char* end = NULL;
  if (!yyjson_is_raw(value)) return false;
  errno = 0;
  const int64_t number = strtoll(yyjson_get_raw(value), &end, 10);
  const bool is_integer = errno == 0 && end == yyjson_get_raw(value) + yyjson_get_len(value);
  if (is_integer) *out = number;
  return is_integer;
}

bool arg_integer(yyjson_val* args, const char* name, int64_t* out) {
  return integer_of(yyjson_obj_get(args, name), out);
}

/* A text of the present request. */
typedef struct kept {
  struct kept* next;
  char* data;
} kept;
static kept* all_kept;

static char* keep(char* data) {
  kept* made = malloc(sizeof *made);
  *made = (kept){all_kept, data};
  all_kept = made;
  return data;
}

void free_texts(void) {
  while (all_kept != NULL) {
    kept* next = all_kept->next;
    free(all_kept->data);
    free(all_kept);
    all_kept = next;
  }
}

billcore_str json_of(yyjson_val* value) {
  billcore_str out = {NULL, 0};
  const char* data = keep(yyjson_val_write(value, 0, &out.len));
  out.data = data != NULL ? data : ""; /* for no value */
  return out;
}

billcore_str base64_of(yyjson_val* encoded) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char* text = yyjson_get_str(encoded);
  const size_t len = yyjson_get_len(encoded);
  char* data = keep(malloc(len / 4 * 3 + 3));
  size_t used = 0;
  unsigned bits = 0;
  int have = 0;
  for (size_t i = 0; i < len && text[i] != '='; ++i) {
    const char* digit = strchr(digits, text[i]);
    if (digit == NULL || text[i] == '\0') continue;
    bits = bits << 6U | (unsigned)(digit - digits);
    have += 6;
    if (have >= 8) {
      have -= 8;
      data[used++] = (char)(bits >> have & 0xFFU);
    }
  }
  return (billcore_str){data, used};
}

billcore_str bytes_of(yyjson_val* given) {
  yyjson_val* encoded = yyjson_obj_get(given, "b64");
  if (yyjson_is_str(encoded)) return base64_of(encoded);
  return yyjson_is_str(given) ? text_of(given) : (billcore_str){NULL, 0};
}

yyjson_mut_val* put_text(yyjson_mut_doc* reply, billcore_str text) {
  return yyjson_mut_strncpy(reply, text.data == NULL ? "" : text.data, text.len);
}

yyjson_mut_val* put_json(yyjson_mut_doc* reply, billcore_str json) {
  yyjson_doc* parsed = yyjson_read(json.data, json.len, YYJSON_READ_NUMBER_AS_RAW);
  yyjson_mut_val* copy = yyjson_val_mut_copy(reply, yyjson_doc_get_root(parsed));
  yyjson_doc_free(parsed);
  return copy;
}

yyjson_mut_val* put_value(yyjson_mut_doc* reply, billcore_value* value) {
  billcore_str raw;
  billcore_error* err;
  yyjson_mut_val* out =
      billcore_value_raw(value, &raw, &err) == BILLCORE_OK ? put_json(reply, raw) : put_error(reply, err);
  billcore_error_free(err);
  billcore_value_free(value);
  return out;
}

yyjson_mut_val* put_id(yyjson_mut_doc* reply, billcore_str text, bool is_integer) {
  yyjson_mut_val* out = yyjson_mut_obj(reply);
  yyjson_mut_obj_add_val(reply, out, "id", put_text(reply, text));
  yyjson_mut_obj_add_bool(reply, out, "is_integer", is_integer);
  return out;
}

yyjson_mut_val* put_time(yyjson_mut_doc* reply, billcore_str text, int64_t unix_micros) {
  yyjson_mut_val* out = yyjson_mut_obj(reply);
  yyjson_mut_obj_add_val(reply, out, "text", put_text(reply, text));
  yyjson_mut_obj_add_int(reply, out, "unix_micros", unix_micros);
  return out;
}

static void add_text(yyjson_mut_doc* reply, yyjson_mut_val* to, const char* name, billcore_str text) {
  if (text.len > 0) yyjson_mut_obj_add_val(reply, to, name, put_text(reply, text));
}

yyjson_mut_val* put_error(yyjson_mut_doc* reply, const billcore_error* error) {
  const billcore_status status = billcore_error_status(error);
  const billcore_reason reason = billcore_error_reason(error);
  double seconds = 0;
  yyjson_mut_val* out = yyjson_mut_obj(reply);
  yyjson_mut_obj_add_str(reply, out, "class", class_of(status));
  yyjson_mut_obj_add_int(reply, out, "status", status);
  add_text(reply, out, "message", billcore_error_message(error));
  if (billcore_error_http_status(error) != 0) {
    yyjson_mut_obj_add_int(reply, out, "http_status", billcore_error_http_status(error));
  }
  add_text(reply, out, "api_code", billcore_error_api_code(error));
  add_text(reply, out, "api_message", billcore_error_api_message(error));
  add_text(reply, out, "body", billcore_error_body(error));
  add_text(reply, out, "request_id", billcore_error_request_id(error));
  if (billcore_error_attempts(error) != 0) {
    yyjson_mut_obj_add_int(reply, out, "attempts", billcore_error_attempts(error));
  }
  if (billcore_error_retry_after(error, &seconds)) yyjson_mut_obj_add_real(reply, out, "retry_after", seconds);
  if (reason != BILLCORE_REASON_NONE) yyjson_mut_obj_add_str(reply, out, "reason", billcore_reason_name(reason));
  yyjson_mut_obj_add_bool(reply, out, "outcome_unknown", billcore_error_outcome_unknown(error));
  yyjson_mut_obj_add_bool(reply, out, "sent_late", billcore_error_sent_late(error));
  add_text(reply, out, "method", billcore_error_method(error));
  add_text(reply, out, "path", billcore_error_path(error));
  if (billcore_error_cause(error) != BILLCORE_OK) {
    yyjson_mut_obj_add_str(reply, out, "cause", class_of(billcore_error_cause(error)));
  }
  return out;
}
