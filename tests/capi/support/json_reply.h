/* Helpers of the conformance driver for the JSON of the driver protocol, for base64, and for errors as JSON. */
#ifndef JSON_REPLY_H
#define JSON_REPLY_H

#include <billcore.h>
#include <yyjson.h>

/* Whether the value is an integer of 64 bits, which *out then gets. */
bool integer_of(yyjson_val* value, int64_t* out);
/* The same for a member. */
bool arg_integer(yyjson_val* args, const char* name, int64_t* out);
/* The characters of a string, or the digits of a number. */
billcore_str text_of(yyjson_val* value);
/* Returns a value as compact JSON that keeps the digits of numbers. The text is valid until free_texts(). */
billcore_str json_of(yyjson_val* value);
/* Reads a string or {"b64": …}; a null or absent value gives {NULL, 0}. The bytes are valid until free_texts(), or until
 * the request is freed. */
billcore_str bytes_of(yyjson_val* given);
/* Reads a string in base64. */
billcore_str base64_of(yyjson_val* encoded);
/* Frees the texts that the functions above have made. */
void free_texts(void);

/* Each put_ function copies its argument into the reply and returns the new value. */
yyjson_mut_val* put_text(yyjson_mut_doc* reply, billcore_str text);
/* Puts the value of a JSON text; numbers keep their digits. */
yyjson_mut_val* put_json(yyjson_mut_doc* reply, billcore_str json);
/* Puts the JSON of `value`, and frees `value`. */
yyjson_mut_val* put_value(yyjson_mut_doc* reply, billcore_value* value);
yyjson_mut_val* put_id(yyjson_mut_doc* reply, billcore_str text, bool is_integer);
yyjson_mut_val* put_time(yyjson_mut_doc* reply, billcore_str text, int64_t unix_micros);
/* Puts the fields of `error` as a JSON object. */
yyjson_mut_val* put_error(yyjson_mut_doc* reply, const billcore_error* error);

/* Returns the name of the Python exception class for a status. */
const char* class_of(billcore_status status);

/* The typed getter of one field; `get` returns NULL and sets *err if the getter fails. */
typedef struct getter {
  const char* resource;
  const char* field;
  yyjson_mut_val* (*get)(yyjson_mut_doc* reply, const void* self, billcore_error** err);
} getter;
extern const getter getters[]; /* ends with {NULL, NULL, NULL} */

/* Returns the getters' result for a path such as `data.images.0.square.src`. If a getter fails, the result is the
 * error as JSON. */
yyjson_mut_val* read_path(yyjson_mut_doc* reply, const billcore_event* event, const char* path);

#endif
