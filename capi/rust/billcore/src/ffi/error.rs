use billcore_sys as sys;

#[cfg(feature = "client")]
use super::Output;
use super::{handle, text_out};
#[cfg(feature = "client")]
use crate::error::{Error, Result};

handle!(
    /// An error of the library.
    NativeError, billcore_error, billcore_error_free, immutable
);

macro_rules! texts {
    ($($name:ident = $function:ident;)*) => {$(
        pub(crate) fn $name(&self) -> &str {
            // SAFETY: the handle is valid, and its texts live as long as the handle.
            unsafe { text_out(sys::$function(self.get())) }
        }
    )*};
}

macro_rules! numbers {
    ($($name:ident -> $type:ty = $function:ident;)*) => {$(
        pub(crate) fn $name(&self) -> $type {
            // SAFETY: the handle is valid.
            unsafe { sys::$function(self.get()) }
        }
    )*};
}

impl NativeError {
    texts! {
        message = billcore_error_message;
        api_code = billcore_error_api_code;
        api_message = billcore_error_api_message;
        body = billcore_error_body;
        request_id = billcore_error_request_id;
        method = billcore_error_method;
        path = billcore_error_path;
        field_path = billcore_error_field_path;
        cause_message = billcore_error_cause_message;
    }
    numbers! {
        status -> i32 = billcore_error_status;
        http_status -> i32 = billcore_error_http_status;
        attempts -> i32 = billcore_error_attempts;
        outcome_unknown -> bool = billcore_error_outcome_unknown;
        sent_late -> bool = billcore_error_sent_late;
        reason -> i32 = billcore_error_reason;
        cause -> i32 = billcore_error_cause;
    }

    /// The error that a call's end has, or else `result`.
    #[cfg(feature = "client")]
    pub(super) fn or<T>(failure: *mut sys::billcore_error, result: T) -> Result<T> {
        if failure.is_null() {
            return Ok(result);
        }
        // SAFETY: the library has given the error to the caller, which gives it to this function.
        Err(unsafe { Self::of(failure) }.map_or_else(|error| error, Error::native))
    }
    /// How many seconds the answer tells the client to wait before the next attempt.
    pub(crate) fn retry_after(&self) -> Option<f64> {
        let mut seconds = 0.0;
        // SAFETY: the handle is valid, and the output pointer is valid.
        unsafe { sys::billcore_error_retry_after(self.get(), &raw mut seconds) }.then_some(seconds)
    }
    /// When the write was sent, in microseconds since 1970.
    pub(crate) fn attempted_at(&self) -> Option<i64> {
        let mut micros = 0;
        // SAFETY: the handle is valid, and the output pointer is valid.
        unsafe { sys::billcore_error_attempted_at(self.get(), &raw mut micros) }.then_some(micros)
    }
}
