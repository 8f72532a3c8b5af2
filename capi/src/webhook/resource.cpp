// Custom fields, and the answer a resource came with.
#include "billcore/resource.h"

#include "shared/convert.hpp"
#include "shared/handles.hpp"
#include "shared/headers.hpp"
#include "shared/resource.hpp"

using billcore::CustomFieldValue;
using billcore::ResponseInfo;
using namespace billcore::capi;

void billcore_custom_field_free(billcore_custom_field* field) { delete field; }

billcore_status billcore_custom_field_id(const billcore_custom_field* field, int64_t* out, billcore_error** err) {
  return get(field, &CustomFieldValue::id, out, err);
}

billcore_status billcore_custom_field_label(const billcore_custom_field* field, billcore_str* out,
                                            billcore_error** err) {
  return get(field, &CustomFieldValue::label, out, err);
}

billcore_status billcore_custom_field_type(const billcore_custom_field* field, billcore_str* out,
                                           billcore_error** err) {
  return get(field, &CustomFieldValue::type, out, err);
}

billcore_status billcore_custom_field_value(const billcore_custom_field* field, billcore_value** out,
                                            billcore_error** err) {
  return get_new(field, &CustomFieldValue::field_value, out, err);
}

billcore_status billcore_custom_field_raw(const billcore_custom_field* field, billcore_str* out, billcore_error** err) {
  return get(field, &CustomFieldValue::raw, out, err);
}

void billcore_response_info_free(billcore_response_info* info) { delete info; }

billcore_status billcore_response_info_status(const billcore_response_info* info, int32_t* out, billcore_error** err) {
  return get(info, &ResponseInfo::status, out, err);
}

billcore_status billcore_response_info_attempts(const billcore_response_info* info, int32_t* out,
                                                billcore_error** err) {
  return get(info, &ResponseInfo::attempts, out, err);
}

billcore_status billcore_response_info_request_id(const billcore_response_info* info, billcore_str* out,
                                                  billcore_error** err) {
  return get(info, &ResponseInfo::request_id, out, err);
}

billcore_status billcore_response_info_headers(const billcore_response_info* info, size_t* count,
                                               billcore_error** err) {
  return get_count(info, &ResponseInfo::headers, count, err);
}

billcore_status billcore_response_info_header_at(const billcore_response_info* info, size_t index, billcore_str* name,
                                                 billcore_str* value, billcore_error** err) {
  return get_header_at(info, &ResponseInfo::headers, index, name, value, err);
}

billcore_status billcore_response_info_header(const billcore_response_info* info, billcore_str name, billcore_str* out,
                                              bool* present, billcore_error** err) {
  return get_header(info, &ResponseInfo::headers, name, out, present, err);
}
