/* What the resources have in common: custom fields, and the answer a resource came with. Conventions: billcore.h.
 *
 * Every resource R (subscription, order, product, product_group) is a view over the document it came in, which it keeps
 * alive (an item of a list: its whole page; billcore_R_copy gives a detached one). Besides its fields it has _raw the
 * JSON as received _value          the whole as plain JSON _field          any field by name, also one this library
 * does not know _contains       whether a field is there, null or not _equal          the same JSON _response_info  the
 * answer it came with _copy, _free Getters fail with BILLCORE_ERROR_MISSING_FIELD where a required field is absent, with
 * BILLCORE_DECODE where it is null or a field has the wrong type. */
#ifndef BILLCORE_RESOURCE_H
#define BILLCORE_RESOURCE_H

#include "billcore/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A custom field of a subscription or an order. Freed with billcore_custom_field_free. Threads: immutable.
 *  Service interface: CustomFieldValue. */
typedef struct billcore_custom_field billcore_custom_field;

/** Frees a custom field; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_custom_field_free(billcore_custom_field* field);

/** Its id. Service interface: CustomFieldValue.  @since 0.1 */
BILLCORE_API billcore_status billcore_custom_field_id(const billcore_custom_field* field, int64_t* out,
                                                      billcore_error** err);

/** Its label. Service interface: CustomFieldValue.  @since 0.1 */
BILLCORE_API billcore_status billcore_custom_field_label(const billcore_custom_field* field, billcore_str* out,
                                                         billcore_error** err);

/** Its type. Service interface: CustomFieldValue.  @since 0.1 */
BILLCORE_API billcore_status billcore_custom_field_type(const billcore_custom_field* field, billcore_str* out,
                                                        billcore_error** err);

/** Its value: any JSON, null included; BILLCORE_ERROR_MISSING_FIELD when absent. New; free it. Service interface:
 *  CustomFieldValue.  @since 0.1 */
BILLCORE_API billcore_status billcore_custom_field_value(const billcore_custom_field* field, billcore_value** out,
                                                         billcore_error** err);

/** The whole custom field as received, a slice.  @since 0.1 */
BILLCORE_API billcore_status billcore_custom_field_raw(const billcore_custom_field* field, billcore_str* out,
                                                       billcore_error** err);

/** What is known about the answer a result came with. Freed with billcore_response_info_free. Texts live as long as it.
 *  Threads: immutable. */
typedef struct billcore_response_info billcore_response_info;

/** Frees a response info; accepts NULL.  @since 0.1 */
BILLCORE_EXPORT void billcore_response_info_free(billcore_response_info* info);

/** HTTP status.  @since 0.1 */
BILLCORE_API billcore_status billcore_response_info_status(const billcore_response_info* info, int32_t* out,
                                                           billcore_error** err);

/** How often the request was sent.  @since 0.1 */
BILLCORE_API billcore_status billcore_response_info_attempts(const billcore_response_info* info, int32_t* out,
                                                             billcore_error** err);

/** Value of the request id header; empty when the answer had none.  @since 0.1 */
BILLCORE_API billcore_status billcore_response_info_request_id(const billcore_response_info* info, billcore_str* out,
                                                               billcore_error** err);

/** Number of header fields.  @since 0.1 */
BILLCORE_API billcore_status billcore_response_info_headers(const billcore_response_info* info, size_t* count,
                                                            billcore_error** err);

/** Header field `index`, from 0, in the order received; names are in lower case.  @since 0.1 */
BILLCORE_API billcore_status billcore_response_info_header_at(const billcore_response_info* info, size_t index,
                                                              billcore_str* name, billcore_str* value,
                                                              billcore_error** err);

/** Value of the first header field of this name, given in any case.  @since 0.1 */
BILLCORE_API billcore_status billcore_response_info_header(const billcore_response_info* info, billcore_str name,
                                                           billcore_str* out, bool* present, billcore_error** err);

#ifdef __cplusplus
}
#endif

#endif /* BILLCORE_RESOURCE_H */
