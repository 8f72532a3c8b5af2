// Errors and status numbers.
#include "billcore/error.h"

#include <array>

#include "billcore/error.hpp"
#include "shared/convert.hpp"
#include "shared/guard.hpp"

namespace {

using billcore::ErrorCode;
using billcore::capi::borrow;

constexpr bool same(billcore_status status, ErrorCode code) { return status == static_cast<billcore_status>(code); }

using billcore::SignatureReason;
static_assert(BILLCORE_REASON_NONE == static_cast<billcore_reason>(SignatureReason::none));
static_assert(BILLCORE_REASON_BODY_TOO_LARGE == static_cast<billcore_reason>(SignatureReason::body_too_large));
static_assert(BILLCORE_REASON_MISSING == static_cast<billcore_reason>(SignatureReason::missing));
static_assert(BILLCORE_REASON_MALFORMED == static_cast<billcore_reason>(SignatureReason::malformed));
static_assert(BILLCORE_REASON_MISMATCH == static_cast<billcore_reason>(SignatureReason::mismatch));
static_assert(BILLCORE_REASON_STALE == static_cast<billcore_reason>(SignatureReason::stale));
static_assert(BILLCORE_REASON_DISCONNECTED == static_cast<billcore_reason>(SignatureReason::disconnected));
static_assert(BILLCORE_REASON_TIMEOUT == static_cast<billcore_reason>(SignatureReason::timeout));

/// The detail of an error; null for NULL and for the static errors.
const billcore::ErrorDetail* detail(const billcore_error* error) noexcept {
  return error != nullptr && error->error ? &error->error->detail() : nullptr;
}

billcore_str text(const billcore_error* error, std::string billcore::ErrorDetail::*field) noexcept {
  const auto* found = detail(error);
  return found != nullptr ? borrow(found->*field) : borrow("");
}

}  // namespace

void billcore_error_free(billcore_error* error) {
  if (error != nullptr && error->error) delete error;
}

const char* billcore_status_name(billcore_status status) {
  for (const auto& row : billcore::error_code_table) {
    if (same(status, row.code)) return row.name;
  }
  return "UNKNOWN";
}

const char* billcore_reason_name(billcore_reason reason) {
  return billcore::to_string(static_cast<SignatureReason>(reason));
}

billcore_status billcore_error_status(const billcore_error* error) {
  if (error == nullptr) return BILLCORE_OK;
  if (error->error) return static_cast<billcore_status>(error->error->code());
  return error->outcome_unknown ? BILLCORE_ERROR_OUTCOME_UNKNOWN : BILLCORE_ERROR_OUT_OF_MEMORY;
}

billcore_str billcore_error_message(const billcore_error* error) {
  if (error == nullptr) return borrow("");
  if (error->error) return borrow(error->error->message());
  return error->outcome_unknown
             ? borrow("sent, but memory ran out; it may or may not have happened: look before you send it again")
             : borrow("out of memory");
}

int32_t billcore_error_http_status(const billcore_error* error) {
  const auto* found = detail(error);
  return found != nullptr ? found->http_status : 0;
}

billcore_str billcore_error_api_code(const billcore_error* error) {
  return text(error, &billcore::ErrorDetail::api_code);
}

billcore_str billcore_error_api_message(const billcore_error* error) {
  return text(error, &billcore::ErrorDetail::api_message);
}

billcore_str billcore_error_body(const billcore_error* error) { return text(error, &billcore::ErrorDetail::body); }

billcore_str billcore_error_request_id(const billcore_error* error) {
  return text(error, &billcore::ErrorDetail::request_id);
}

bool billcore_error_retry_after(const billcore_error* error, double* seconds) {
  const auto* found = detail(error);
  const bool present = found != nullptr && found->retry_after.has_value();
  if (seconds != nullptr) *seconds = present ? *found->retry_after : 0;
  return present;
}

int32_t billcore_error_attempts(const billcore_error* error) {
  const auto* found = detail(error);
  return found != nullptr ? found->attempts : 0;
}

bool billcore_error_outcome_unknown(const billcore_error* error) {
  const auto* found = detail(error);
  return found != nullptr ? found->outcome_unknown : error != nullptr && error->outcome_unknown;
}

bool billcore_error_sent_late(const billcore_error* error) {
  const auto* found = detail(error);
  return found != nullptr && found->sent_late;
}

billcore_reason billcore_error_reason(const billcore_error* error) {
  const auto* found = detail(error);
  return found != nullptr ? static_cast<billcore_reason>(found->reason) : BILLCORE_REASON_NONE;
}

billcore_str billcore_error_method(const billcore_error* error) { return text(error, &billcore::ErrorDetail::method); }

billcore_str billcore_error_path(const billcore_error* error) { return text(error, &billcore::ErrorDetail::path); }

billcore_str billcore_error_field_path(const billcore_error* error) {
  return text(error, &billcore::ErrorDetail::field_path);
}

bool billcore_error_attempted_at(const billcore_error* error, int64_t* unix_micros) {
  const auto* found = detail(error);
  const bool present = found != nullptr && found->attempted_at.has_value();
  if (unix_micros != nullptr) *unix_micros = present ? billcore::capi::micros(*found->attempted_at) : 0;
  return present;
}

billcore_status billcore_error_cause(const billcore_error* error) {
  const auto* found = detail(error);
  if (found == nullptr && billcore_error_outcome_unknown(error)) return BILLCORE_ERROR_OUT_OF_MEMORY;
  return found != nullptr ? static_cast<billcore_status>(found->cause) : BILLCORE_OK;
}

billcore_str billcore_error_cause_message(const billcore_error* error) {
  return text(error, &billcore::ErrorDetail::cause_message);
}
