/* What the conformance driver needs around billcore.h: JSON of its protocol, base64, errors as JSON. */
#ifndef JSON_REPLY_H
#define JSON_REPLY_H

#include <billcore.h>
#include <yyjson.h>

/* Bytes of the driver's own; free(data). */
typedef struct bytes {
  char* data;
  size_t len;
} bytes;

/* A member that is absent gives {NULL, 0}, false, or `otherwise`. */
billcore_str arg_text(yyjson_val* args, const char* name);
bool arg_integer(yyjson_val* args, const char* name, int64_t* out);
bool arg_flag(yyjson_val* args, const char* name, bool otherwise);
/* Compact JSON of a value, numbers with their digits; free it. */
bytes json_of(yyjson_val* value);
/* A text, or {"b64": …}; {NULL, 0} for null and absent; free it. */
bytes bytes_of(yyjson_val* given);
bytes base64_decoded(const char* text, size_t len);
billcore_str str_of(bytes given);

/* Values of a reply, copied into it. */
yyjson_mut_val* put_text(yyjson_mut_doc* reply, billcore_str text);
/* JSON text as received, on one line. */
yyjson_mut_val* put_json(yyjson_mut_doc* reply, billcore_str json);
/* JSON of a value, which is freed. */
yyjson_mut_val* put_value(yyjson_mut_doc* reply, billcore_value* value);
/* All that is known of an error. */
yyjson_mut_val* put_error(yyjson_mut_doc* reply, const billcore_error* error);

/* Name of the Python exception class that goes with a status. */
const char* class_of(billcore_status status);

/* What a getter reads at a path such as `data.images.0.square.src`; an error becomes the value. */
yyjson_mut_val* read_path(yyjson_mut_doc* reply, const billcore_event* event, const char* path);

#endif
