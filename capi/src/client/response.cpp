// Answers as received: billcore_response.
#include "billcore/client.h"
#include "client/handles.hpp"
#include "shared/convert.hpp"
#include "shared/handles.hpp"
#include "shared/headers.hpp"

using billcore::Response;
using namespace billcore::capi;

billcore_status billcore_response_status(const billcore_response* response, int32_t* out, billcore_error** err) {
  return get(response, &Response::status, out, err);
}

billcore_status billcore_response_body(const billcore_response* response, billcore_str* out, billcore_error** err) {
  return get(response, &Response::body, out, err);
}

billcore_status billcore_response_json(const billcore_response* response, billcore_value** out, billcore_error** err) {
  return get_new(response, &Response::json, out, err);
}

billcore_status billcore_response_get_info(const billcore_response* response, billcore_response_info** out,
                                           billcore_error** err) {
  return get_new(response, &Response::response_info, out, err);
}

billcore_status billcore_response_header(const billcore_response* response, billcore_str name, billcore_str* out,
                                         bool* present, billcore_error** err) {
  return get_header(response, &Response::headers, name, out, present, err);
}

billcore_status billcore_response_header_count(const billcore_response* response, size_t* count, billcore_error** err) {
  return get_count(response, &Response::headers, count, err);
}

billcore_status billcore_response_header_at(const billcore_response* response, size_t index, billcore_str* name,
                                            billcore_str* value, billcore_error** err) {
  return get_header_at(response, &Response::headers, index, name, value, err);
}

void billcore_response_free(billcore_response* response) { delete response; }
