// Generated from billcore/webhook.h by generate.sh.
use crate::names::*;

pub const BILLCORE_VERSION: &::core::ffi::CStr = c"0.1.0";
pub const BILLCORE_VERSION_NUMBER: u32 = 100;
unsafe extern "C" {
    pub fn billcore_status_name(status: billcore_status) -> *const ::core::ffi::c_char;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_str {
    pub data: *const ::core::ffi::c_char,
    pub len: usize,
}
unsafe extern "C" {
    pub fn billcore_str_from(text: *const ::core::ffi::c_char) -> billcore_str;
}
pub type billcore_release = ::core::option::Option<unsafe extern "C" fn(context: *mut ::core::ffi::c_void)>;
unsafe extern "C" {
    pub fn billcore_same_id(a: billcore_str, b: billcore_str) -> bool;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_buf {
    pub data: *mut ::core::ffi::c_char,
    pub len: usize,
}
unsafe extern "C" {
    pub fn billcore_buf_free(buf: *mut billcore_buf);
}
unsafe extern "C" {
    pub fn billcore_version() -> *const ::core::ffi::c_char;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_error {
    _unused: [u8; 0],
}
unsafe extern "C" {
    pub fn billcore_error_free(error: *mut billcore_error);
}
unsafe extern "C" {
    pub fn billcore_error_status(error: *const billcore_error) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_error_message(error: *const billcore_error) -> billcore_str;
}
unsafe extern "C" {
    pub fn billcore_error_http_status(error: *const billcore_error) -> i32;
}
unsafe extern "C" {
    pub fn billcore_error_api_code(error: *const billcore_error) -> billcore_str;
}
unsafe extern "C" {
    pub fn billcore_error_api_message(error: *const billcore_error) -> billcore_str;
}
unsafe extern "C" {
    pub fn billcore_error_body(error: *const billcore_error) -> billcore_str;
}
unsafe extern "C" {
    pub fn billcore_error_request_id(error: *const billcore_error) -> billcore_str;
}
unsafe extern "C" {
    pub fn billcore_error_retry_after(error: *const billcore_error, seconds: *mut f64) -> bool;
}
unsafe extern "C" {
    pub fn billcore_error_attempts(error: *const billcore_error) -> i32;
}
unsafe extern "C" {
    pub fn billcore_error_outcome_unknown(error: *const billcore_error) -> bool;
}
unsafe extern "C" {
    pub fn billcore_error_sent_late(error: *const billcore_error) -> bool;
}
pub type billcore_reason = i32;
pub const BILLCORE_REASON_NONE: i32 = 0;
pub const BILLCORE_REASON_BODY_TOO_LARGE: i32 = 1;
pub const BILLCORE_REASON_MISSING: i32 = 2;
pub const BILLCORE_REASON_MALFORMED: i32 = 3;
pub const BILLCORE_REASON_MISMATCH: i32 = 4;
pub const BILLCORE_REASON_STALE: i32 = 5;
pub const BILLCORE_REASON_DISCONNECTED: i32 = 6;
pub const BILLCORE_REASON_TIMEOUT: i32 = 7;
unsafe extern "C" {
    pub fn billcore_error_reason(error: *const billcore_error) -> billcore_reason;
}
unsafe extern "C" {
    pub fn billcore_reason_name(reason: billcore_reason) -> *const ::core::ffi::c_char;
}
unsafe extern "C" {
    pub fn billcore_error_method(error: *const billcore_error) -> billcore_str;
}
unsafe extern "C" {
    pub fn billcore_error_path(error: *const billcore_error) -> billcore_str;
}
unsafe extern "C" {
    pub fn billcore_error_field_path(error: *const billcore_error) -> billcore_str;
}
unsafe extern "C" {
    pub fn billcore_error_attempted_at(error: *const billcore_error, unix_micros: *mut i64) -> bool;
}
unsafe extern "C" {
    pub fn billcore_error_cause(error: *const billcore_error) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_error_cause_message(error: *const billcore_error) -> billcore_str;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_value {
    _unused: [u8; 0],
}
pub type billcore_kind = i32;
pub const BILLCORE_KIND_NULL: i32 = 0;
pub const BILLCORE_KIND_BOOLEAN: i32 = 1;
pub const BILLCORE_KIND_INTEGER: i32 = 2;
pub const BILLCORE_KIND_REAL: i32 = 3;
pub const BILLCORE_KIND_STRING: i32 = 4;
pub const BILLCORE_KIND_ARRAY: i32 = 5;
pub const BILLCORE_KIND_OBJECT: i32 = 6;
unsafe extern "C" {
    pub fn billcore_value_free(value: *mut billcore_value);
}
unsafe extern "C" {
    pub fn billcore_value_kind(
        value: *const billcore_value,
        out: *mut billcore_kind,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_value_boolean(
        value: *const billcore_value,
        out: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_value_integer(
        value: *const billcore_value,
        out: *mut i64,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_value_real(
        value: *const billcore_value,
        out: *mut f64,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_value_text(
        value: *const billcore_value,
        out: *mut billcore_str,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_value_raw(
        value: *const billcore_value,
        out: *mut billcore_str,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_value_path(
        value: *const billcore_value,
        out: *mut billcore_buf,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_value_count(
        value: *const billcore_value,
        out: *mut usize,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_value_at(
        value: *const billcore_value,
        index: usize,
        out: *mut *mut billcore_value,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_value_find(
        value: *const billcore_value,
        name: billcore_str,
        out: *mut *mut billcore_value,
        present: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_value_equal(
        value: *const billcore_value,
        other: *const billcore_value,
        out: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_value_copy(
        value: *const billcore_value,
        out: *mut *mut billcore_value,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_value_iterator {
    _unused: [u8; 0],
}
unsafe extern "C" {
    pub fn billcore_value_iterator_new(
        value: *const billcore_value,
        out: *mut *mut billcore_value_iterator,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_value_iterator_next(
        iterator: *mut billcore_value_iterator,
        name: *mut billcore_str,
        out: *mut *mut billcore_value,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_value_iterator_free(iterator: *mut billcore_value_iterator);
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_resource {
    _unused: [u8; 0],
}
unsafe extern "C" {
    pub fn billcore_resource_free(resource: *mut billcore_resource);
}
unsafe extern "C" {
    pub fn billcore_resource_text(
        resource: *const billcore_resource,
        name: billcore_str,
        out: *mut billcore_str,
        present: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_resource_int64(
        resource: *const billcore_resource,
        name: billcore_str,
        out: *mut i64,
        present: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_resource_bool(
        resource: *const billcore_resource,
        name: billcore_str,
        out: *mut bool,
        present: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_resource_time(
        resource: *const billcore_resource,
        name: billcore_str,
        text: *mut billcore_str,
        unix_micros: *mut i64,
        present: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_resource_number(
        resource: *const billcore_resource,
        name: billcore_str,
        out: *mut billcore_str,
        present: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_resource_id(
        resource: *const billcore_resource,
        name: billcore_str,
        text: *mut billcore_str,
        is_integer: *mut bool,
        present: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_resource_object(
        resource: *const billcore_resource,
        name: billcore_str,
        out: *mut *mut billcore_value,
        present: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_resource_any(
        resource: *const billcore_resource,
        name: billcore_str,
        out: *mut *mut billcore_value,
        present: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_resource_list_count(
        resource: *const billcore_resource,
        name: billcore_str,
        out: *mut usize,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_resource_list_at(
        resource: *const billcore_resource,
        name: billcore_str,
        index: usize,
        out: *mut *mut billcore_resource,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_resource_integers_count(
        resource: *const billcore_resource,
        name: billcore_str,
        out: *mut usize,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_resource_integer_at(
        resource: *const billcore_resource,
        name: billcore_str,
        index: usize,
        out: *mut i64,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_resource_raw(
        resource: *const billcore_resource,
        out: *mut billcore_str,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_resource_value(
        resource: *const billcore_resource,
        out: *mut *mut billcore_value,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_resource_field(
        resource: *const billcore_resource,
        name: billcore_str,
        out: *mut *mut billcore_value,
        present: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_resource_contains(
        resource: *const billcore_resource,
        name: billcore_str,
        out: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_resource_equal(
        resource: *const billcore_resource,
        other: *const billcore_resource,
        out: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_resource_copy(
        resource: *const billcore_resource,
        out: *mut *mut billcore_resource,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_response_info {
    _unused: [u8; 0],
}
unsafe extern "C" {
    pub fn billcore_resource_response_info(
        resource: *const billcore_resource,
        out: *mut *mut billcore_response_info,
        present: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_response_info_free(info: *mut billcore_response_info);
}
unsafe extern "C" {
    pub fn billcore_response_info_status(
        info: *const billcore_response_info,
        out: *mut i32,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_response_info_attempts(
        info: *const billcore_response_info,
        out: *mut i32,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_response_info_sent_late(
        info: *const billcore_response_info,
        out: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_response_info_request_id(
        info: *const billcore_response_info,
        out: *mut billcore_str,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_response_info_header_count(
        info: *const billcore_response_info,
        count: *mut usize,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_response_info_header_at(
        info: *const billcore_response_info,
        index: usize,
        name: *mut billcore_str,
        value: *mut billcore_str,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_response_info_header(
        info: *const billcore_response_info,
        name: billcore_str,
        out: *mut billcore_str,
        present: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_subscription_usable_at(
        subscription: *const billcore_subscription,
        unix_micros: i64,
        out: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_event {
    _unused: [u8; 0],
}
unsafe extern "C" {
    pub fn billcore_event_type(
        event: *const billcore_event,
        out: *mut billcore_event_kind,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_event_data_kind(
        event: *const billcore_event,
        out: *mut billcore_data_kind,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_event_data(
        event: *const billcore_event,
        out: *mut *mut billcore_value,
        present: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_event_resource(
        event: *const billcore_event,
        kind: billcore_data_kind,
        out: *mut *mut billcore_resource,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_event_require_claimable(
        event: *const billcore_event,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_event_raw(
        event: *const billcore_event,
        out: *mut billcore_str,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_event_free(event: *mut billcore_event);
}
unsafe extern "C" {
    pub fn billcore_webhook_verify(
        body: billcore_str,
        signature: billcore_str,
        secret: billcore_str,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_webhook_unwrap(
        body: billcore_str,
        signature: billcore_str,
        secret: billcore_str,
        out: *mut *mut billcore_event,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_webhook_parse_unverified(
        raw: billcore_str,
        out: *mut *mut billcore_event,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_webhook_sign(
        body: billcore_str,
        secret: billcore_str,
        out: *mut billcore_buf,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_verifier_options {
    _unused: [u8; 0],
}
unsafe extern "C" {
    pub fn billcore_verifier_options_new(
        out: *mut *mut billcore_verifier_options,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_verifier_options_set_header(
        options: *mut billcore_verifier_options,
        name: billcore_str,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_verifier_options_set_max_body(
        options: *mut billcore_verifier_options,
        bytes: usize,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_verifier_options_set_freshness_ms(
        options: *mut billcore_verifier_options,
        milliseconds: i64,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
pub type billcore_clock = ::core::option::Option<unsafe extern "C" fn(context: *mut ::core::ffi::c_void) -> i64>;
unsafe extern "C" {
    pub fn billcore_verifier_options_set_clock(
        options: *mut billcore_verifier_options,
        clock: billcore_clock,
        context: *mut ::core::ffi::c_void,
        release: billcore_release,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_verifier_options_allow_any_key_length(
        options: *mut billcore_verifier_options,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_verifier_options_add_secret(
        options: *mut billcore_verifier_options,
        secret: billcore_str,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_verifier_options_add_account(
        options: *mut billcore_verifier_options,
        account: billcore_str,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_verifier_options_free(options: *mut billcore_verifier_options);
}
unsafe extern "C" {
    pub fn billcore_webhook_explain(
        body: billcore_str,
        signature: billcore_str,
        secret: billcore_str,
        options: *const billcore_verifier_options,
        out: *mut billcore_buf,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_verifier {
    _unused: [u8; 0],
}
unsafe extern "C" {
    pub fn billcore_verifier_new(
        secret: billcore_str,
        options: *const billcore_verifier_options,
        out: *mut *mut billcore_verifier,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_verifier_verify(
        verifier: *const billcore_verifier,
        body: billcore_str,
        signature: billcore_str,
        secret_index: *mut usize,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_verifier_unwrap(
        verifier: *const billcore_verifier,
        body: billcore_str,
        signature: billcore_str,
        out: *mut *mut billcore_event,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_headers {
    _unused: [u8; 0],
}
unsafe extern "C" {
    pub fn billcore_headers_new(out: *mut *mut billcore_headers, err: *mut *mut billcore_error) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_headers_add(
        headers: *mut billcore_headers,
        name: billcore_str,
        value: billcore_str,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_headers_free(headers: *mut billcore_headers);
}
unsafe extern "C" {
    pub fn billcore_verifier_unwrap_request(
        verifier: *const billcore_verifier,
        body: billcore_str,
        headers: *const billcore_headers,
        out: *mut *mut billcore_event,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_webhook_explain_with_headers(
        body: billcore_str,
        signature: billcore_str,
        headers: *const billcore_headers,
        secret: billcore_str,
        options: *const billcore_verifier_options,
        out: *mut billcore_buf,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_verifier_secret_count(verifier: *const billcore_verifier) -> usize;
}
unsafe extern "C" {
    pub fn billcore_verifier_matches(
        verifier: *const billcore_verifier,
        secret_index: usize,
        out: *mut u64,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_verifier_free(verifier: *mut billcore_verifier);
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_verifier_stream {
    _unused: [u8; 0],
}
unsafe extern "C" {
    pub fn billcore_verifier_stream_new(
        verifier: *const billcore_verifier,
        out: *mut *mut billcore_verifier_stream,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_verifier_stream_update(
        stream: *mut billcore_verifier_stream,
        piece: billcore_str,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_verifier_stream_finish(
        stream: *mut billcore_verifier_stream,
        signature: billcore_str,
        secret_index: *mut usize,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_verifier_stream_free(stream: *mut billcore_verifier_stream);
}
