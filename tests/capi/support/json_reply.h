/* Helpers of the conformance driver for the JSON of the driver protocol, for base64, and for errors as JSON. */
#ifndef JSON_REPLY_H
#define JSON_REPLY_H

#include <billcore.h>
#include <yyjson.h>

/* Bytes that the driver owns; release them with free(data). */
typedef struct bytes {
  char* data;
  size_t len;
} bytes;

/* If the member is absent, arg_text() returns {NULL, 0}, arg_integer() returns false, and arg_flag() returns
 * `otherwise`. */
billcore_str arg_text(yyjson_val* args, const char* name);
bool arg_integer(yyjson_val* args, const char* name, int64_t* out);
bool arg_flag(yyjson_val* args, const char* name, bool otherwise);
/* Returns a value as compact JSON that keeps the digits of numbers; the caller frees it. */
bytes json_of(yyjson_val* value);
/* Reads a string or {"b64": …}; a null or absent value gives {NULL, 0}. The caller frees the bytes. */
bytes bytes_of(yyjson_val* given);
bytes base64_decoded(const char* text, size_t len);
billcore_str str_of(bytes given);

/* Each put_ function copies its argument into the reply and returns the new value. */
yyjson_mut_val* put_text(yyjson_mut_doc* reply, billcore_str text);
/* Puts the value of a JSON text; numbers keep their digits. */
yyjson_mut_val* put_json(yyjson_mut_doc* reply, billcore_str json);
/* Puts the JSON of `value`, and frees `value`. */
yyjson_mut_val* put_value(yyjson_mut_doc* reply, billcore_value* value);
/* Puts the fields of `error` as a JSON object. */
yyjson_mut_val* put_error(yyjson_mut_doc* reply, const billcore_error* error);

/* Returns the name of the Python exception class for a status. */
const char* class_of(billcore_status status);

/* Returns the getters' result for a path such as `data.images.0.square.src`. If a getter fails, the result is the
 * error as JSON. */
yyjson_mut_val* read_path(yyjson_mut_doc* reply, const billcore_event* event, const char* path);

#endif
