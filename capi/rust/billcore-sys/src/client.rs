// Generated from billcore/loop.h many.h by generate.sh.
use crate::{names::*, operations::*, webhook::*};

#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_client {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_response {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_cancel {
    _unused: [u8; 0],
}
unsafe extern "C" {
    pub fn billcore_cancel_new(out: *mut *mut billcore_cancel, err: *mut *mut billcore_error) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_cancel_trigger(cancel: *mut billcore_cancel);
}
unsafe extern "C" {
    pub fn billcore_cancel_is_triggered(cancel: *const billcore_cancel) -> bool;
}
unsafe extern "C" {
    pub fn billcore_cancel_free(cancel: *mut billcore_cancel);
}
pub type billcore_moment = i32;
pub const BILLCORE_MOMENT_REQUEST: i32 = 1;
pub const BILLCORE_MOMENT_RESPONSE: i32 = 2;
pub const BILLCORE_MOMENT_RETRY: i32 = 3;
#[repr(C)]
pub struct billcore_attempt {
    pub moment: billcore_moment,
    pub number: i32,
    pub status: i32,
    pub failure: billcore_status,
    pub method: billcore_str,
    pub route: billcore_str,
    pub request_id: billcore_str,
    pub duration_micros: i64,
    pub wait_ms: i64,
    pub path: billcore_str,
    pub sent: bool,
    pub outcome_unknown: bool,
}
pub type billcore_hook =
    ::core::option::Option<unsafe extern "C" fn(context: *mut ::core::ffi::c_void, attempt: *const billcore_attempt)>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_options {
    _unused: [u8; 0],
}
pub type billcore_options_kind = i32;
pub const BILLCORE_OPTIONS_OF_CLIENT: i32 = 1;
pub const BILLCORE_OPTIONS_OF_CHANGES: i32 = 2;
pub const BILLCORE_OPTIONS_OF_CALL: i32 = 3;
pub const BILLCORE_OPTIONS_OF_CHARGE: i32 = 4;
pub const BILLCORE_OPTIONS_OF_PRODUCT: i32 = 5;
pub const BILLCORE_OPTIONS_OF_REQUEST: i32 = 6;
pub const BILLCORE_OPTIONS_OF_LIST: i32 = 7;
pub const BILLCORE_OPTIONS_OF_CHARGE_SEARCH: i32 = 8;
unsafe extern "C" {
    pub fn billcore_options_new(
        kind: billcore_options_kind,
        out: *mut *mut billcore_options,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_options_free(options: *mut billcore_options);
}
unsafe extern "C" {
    pub fn billcore_options_set_text(
        options: *mut billcore_options,
        name: billcore_str,
        value: billcore_str,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_options_set_int64(
        options: *mut billcore_options,
        name: billcore_str,
        value: i64,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_options_set_bool(
        options: *mut billcore_options,
        name: billcore_str,
        value: bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_options_set_json(
        options: *mut billcore_options,
        name: billcore_str,
        json: billcore_str,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_options_add(
        options: *mut billcore_options,
        name: billcore_str,
        key: billcore_str,
        value: billcore_str,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
pub type billcore_interrupt = ::core::option::Option<unsafe extern "C" fn(context: *mut ::core::ffi::c_void) -> bool>;
unsafe extern "C" {
    pub fn billcore_options_set_interrupt(
        options: *mut billcore_options,
        callback: billcore_interrupt,
        context: *mut ::core::ffi::c_void,
        release: billcore_release,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_options_set_hook(
        options: *mut billcore_options,
        hook: billcore_hook,
        context: *mut ::core::ffi::c_void,
        release: billcore_release,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_options_set_cancel(
        options: *mut billcore_options,
        cancel: *const billcore_cancel,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_client_options {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_client_changes {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_call_options {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_list {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_page {
    _unused: [u8; 0],
}
unsafe extern "C" {
    pub fn billcore_list_next(
        list: *mut billcore_list,
        out: *mut *mut billcore_resource,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_list_next_page(
        list: *mut billcore_list,
        out: *mut *mut billcore_page,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_list_peek_page(
        list: *mut billcore_list,
        out: *mut *mut billcore_page,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_list_skip(list: *mut billcore_list, count: usize, err: *mut *mut billcore_error)
    -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_list_first(
        list: *mut billcore_list,
        out: *mut *mut billcore_resource,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_list_total(
        list: *const billcore_list,
        out: *mut i64,
        present: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_list_state(
        list: *const billcore_list,
        out: *mut billcore_buf,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_list_fetched_pages(
        list: *const billcore_list,
        out: *mut i64,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_list_verdict(
        list: *const billcore_list,
        complete: *mut bool,
        reason: *mut billcore_str,
        present: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_list_stop(list: *mut billcore_list, err: *mut *mut billcore_error) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_list_free(list: *mut billcore_list);
}
unsafe extern "C" {
    pub fn billcore_page_count(
        page: *const billcore_page,
        out: *mut usize,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_page_at(
        page: *const billcore_page,
        index: usize,
        out: *mut *mut billcore_resource,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
pub type billcore_cell_kind = i32;
pub const BILLCORE_CELL_ABSENT: i32 = 0;
pub const BILLCORE_CELL_NULL: i32 = 1;
pub const BILLCORE_CELL_TEXT: i32 = 2;
pub const BILLCORE_CELL_INTEGER: i32 = 3;
pub const BILLCORE_CELL_BOOLEAN: i32 = 4;
pub const BILLCORE_CELL_OTHER: i32 = 5;
#[repr(C)]
pub struct billcore_cell {
    pub text: billcore_str,
    pub number: i64,
    pub kind: billcore_cell_kind,
}
unsafe extern "C" {
    pub fn billcore_page_column(
        page: *const billcore_page,
        name: billcore_str,
        cells: *mut billcore_cell,
        room: usize,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_page_numbers(
        page: *const billcore_page,
        out: *mut *mut billcore_resource,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_page_free(page: *mut billcore_page);
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_operation {
    _unused: [u8; 0],
}
unsafe extern "C" {
    pub fn billcore_operation_new(
        name: billcore_str,
        out: *mut *mut billcore_operation,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_operation_free(operation: *mut billcore_operation);
}
unsafe extern "C" {
    pub fn billcore_operation_set_text(
        operation: *mut billcore_operation,
        name: billcore_str,
        value: billcore_str,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_operation_set_int64(
        operation: *mut billcore_operation,
        name: billcore_str,
        value: i64,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_operation_set_bool(
        operation: *mut billcore_operation,
        name: billcore_str,
        value: bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_operation_set_json(
        operation: *mut billcore_operation,
        name: billcore_str,
        json: billcore_str,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_operation_add_text(
        operation: *mut billcore_operation,
        name: billcore_str,
        value: billcore_str,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_operation_add(
        operation: *mut billcore_operation,
        name: billcore_str,
        key: billcore_str,
        value: billcore_str,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_operation_set_options(
        operation: *mut billcore_operation,
        options: *const billcore_options,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
pub type billcore_result_kind = i32;
pub const BILLCORE_RESULT_NONE: i32 = 0;
pub const BILLCORE_RESULT_RESPONSE: i32 = 1;
pub const BILLCORE_RESULT_PAGE: i32 = 1000;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_result {
    _unused: [u8; 0],
}
unsafe extern "C" {
    pub fn billcore_client_perform(
        client: *const billcore_client,
        operation: *mut billcore_operation,
        call: *const billcore_call_options,
        out: *mut *mut billcore_result,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_client_list(
        client: *const billcore_client,
        operation: *mut billcore_operation,
        call: *const billcore_call_options,
        out: *mut *mut billcore_list,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_result_free(result: *mut billcore_result);
}
unsafe extern "C" {
    pub fn billcore_result_kind_of(result: *const billcore_result) -> billcore_result_kind;
}
unsafe extern "C" {
    pub fn billcore_result_take_resource(
        result: *mut *mut billcore_result,
        kind: billcore_result_kind,
        out: *mut *mut billcore_resource,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_result_take_response(
        result: *mut *mut billcore_result,
        out: *mut *mut billcore_response,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_result_take_page(
        result: *mut *mut billcore_result,
        out: *mut *mut billcore_page,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_charge_options {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_product_changes {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_pagination {
    _unused: [u8; 0],
}
pub const BILLCORE_RESULT_SUBSCRIPTION: i32 = 2;
pub const BILLCORE_RESULT_ORDER: i32 = 3;
pub const BILLCORE_RESULT_PRODUCT: i32 = 4;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_charge_search {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_request_options {
    _unused: [u8; 0],
}
unsafe extern "C" {
    pub fn billcore_client_new(
        options: *const billcore_client_options,
        out: *mut *mut billcore_client,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_client_with_options(
        client: *const billcore_client,
        changes: *const billcore_client_changes,
        out: *mut *mut billcore_client,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_client_close(client: *mut billcore_client, err: *mut *mut billcore_error) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_client_free(client: *mut billcore_client);
}
unsafe extern "C" {
    pub fn billcore_subscription_find_charges(
        client: *const billcore_client,
        charge: *const billcore_error,
        search: *const billcore_charge_search,
        call: *const billcore_call_options,
        out: *mut *mut billcore_order_page,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_subscription_find_charges_since(
        client: *const billcore_client,
        id: billcore_str,
        unix_micros: i64,
        search: *const billcore_charge_search,
        call: *const billcore_call_options,
        out: *mut *mut billcore_order_page,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_subscription_found_charges(
        search_error: *const billcore_error,
        out: *mut *mut billcore_order_page,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_response_status(
        response: *const billcore_response,
        out: *mut i32,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_response_body(
        response: *const billcore_response,
        out: *mut billcore_str,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_response_json(
        response: *const billcore_response,
        out: *mut *mut billcore_value,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_response_get_info(
        response: *const billcore_response,
        out: *mut *mut billcore_response_info,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_response_header(
        response: *const billcore_response,
        name: billcore_str,
        out: *mut billcore_str,
        present: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_response_header_count(
        response: *const billcore_response,
        count: *mut usize,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_response_header_at(
        response: *const billcore_response,
        index: usize,
        name: *mut billcore_str,
        value: *mut billcore_str,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_response_free(response: *mut billcore_response);
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_many {
    _unused: [u8; 0],
}
unsafe extern "C" {
    pub fn billcore_many_new(
        client: *const billcore_client,
        concurrency: i32,
        ordered: bool,
        call: *const billcore_call_options,
        out: *mut *mut billcore_many,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_many_free(many: *mut billcore_many);
}
unsafe extern "C" {
    pub fn billcore_many_wants(many: *const billcore_many) -> bool;
}
unsafe extern "C" {
    pub fn billcore_many_add(
        many: *mut billcore_many,
        read: *mut billcore_operation,
        number: u64,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_many_next(
        many: *mut billcore_many,
        number: *mut u64,
        result: *mut *mut billcore_result,
        failure: *mut *mut billcore_error,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct billcore_loop {
    _unused: [u8; 0],
}
pub type billcore_ticket = u64;
pub type billcore_done = ::core::option::Option<
    unsafe extern "C" fn(
        context: *mut ::core::ffi::c_void,
        ticket: billcore_ticket,
        result: *mut billcore_result,
        failure: *mut billcore_error,
    ),
>;
unsafe extern "C" {
    pub fn billcore_loop_new(
        client: *const billcore_client,
        out: *mut *mut billcore_loop,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_loop_free(loop_: *mut billcore_loop);
}
unsafe extern "C" {
    pub fn billcore_loop_use_client(
        loop_: *mut billcore_loop,
        client: *const billcore_client,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_loop_descriptor(loop_: *const billcore_loop) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn billcore_loop_process(
        loop_: *mut billcore_loop,
        more: *mut bool,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_loop_start(
        loop_: *mut billcore_loop,
        operation: *mut billcore_operation,
        call: *const billcore_call_options,
        done: billcore_done,
        context: *mut ::core::ffi::c_void,
        release: billcore_release,
        ticket: *mut billcore_ticket,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_loop_fetch(
        loop_: *mut billcore_loop,
        list: *mut billcore_list,
        done: billcore_done,
        context: *mut ::core::ffi::c_void,
        release: billcore_release,
        ticket: *mut billcore_ticket,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_loop_find_charges(
        loop_: *mut billcore_loop,
        charge: *const billcore_error,
        search: *const billcore_charge_search,
        call: *const billcore_call_options,
        done: billcore_done,
        context: *mut ::core::ffi::c_void,
        release: billcore_release,
        ticket: *mut billcore_ticket,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_loop_find_charges_since(
        loop_: *mut billcore_loop,
        id: billcore_str,
        unix_micros: i64,
        search: *const billcore_charge_search,
        call: *const billcore_call_options,
        done: billcore_done,
        context: *mut ::core::ffi::c_void,
        release: billcore_release,
        ticket: *mut billcore_ticket,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_loop_many_new(
        loop_: *mut billcore_loop,
        concurrency: i32,
        ordered: bool,
        call: *const billcore_call_options,
        out: *mut *mut billcore_many,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_loop_many_wait(
        loop_: *mut billcore_loop,
        many: *mut billcore_many,
        done: billcore_done,
        context: *mut ::core::ffi::c_void,
        release: billcore_release,
        ticket: *mut billcore_ticket,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_loop_cancel(
        loop_: *mut billcore_loop,
        ticket: billcore_ticket,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_loop_next(
        loop_: *mut billcore_loop,
        ticket: *mut billcore_ticket,
        result: *mut *mut billcore_result,
        failure: *mut *mut billcore_error,
        err: *mut *mut billcore_error,
    ) -> billcore_status;
}
unsafe extern "C" {
    pub fn billcore_loop_running(loop_: *const billcore_loop) -> usize;
}
