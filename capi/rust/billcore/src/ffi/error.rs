use billcore_sys as sys;

use super::{handle, text_out};

handle!(
    /// An error of the library.
    NativeError, billcore_error, billcore_error_free, immutable
);

type Text = unsafe extern "C" fn(*const sys::billcore_error) -> sys::billcore_str;

impl NativeError {
    fn text(&self, read: Text) -> &str {
        // SAFETY: the handle is valid, and its texts live as long as the handle.
        unsafe { text_out(read(self.get())) }
    }
    pub(crate) fn message(&self) -> &str {
        self.text(sys::billcore_error_message)
    }
    pub(crate) fn api_code(&self) -> &str {
        self.text(sys::billcore_error_api_code)
    }
    pub(crate) fn api_message(&self) -> &str {
        self.text(sys::billcore_error_api_message)
    }
    pub(crate) fn body(&self) -> &str {
        self.text(sys::billcore_error_body)
    }
    pub(crate) fn request_id(&self) -> &str {
        self.text(sys::billcore_error_request_id)
    }
    pub(crate) fn method(&self) -> &str {
        self.text(sys::billcore_error_method)
    }
    pub(crate) fn path(&self) -> &str {
        self.text(sys::billcore_error_path)
    }
    pub(crate) fn field_path(&self) -> &str {
        self.text(sys::billcore_error_field_path)
    }
    pub(crate) fn cause_message(&self) -> &str {
        self.text(sys::billcore_error_cause_message)
    }

    fn number<T>(&self, read: unsafe extern "C" fn(*const sys::billcore_error) -> T) -> T {
        // SAFETY: the handle is valid.
        unsafe { read(self.get()) }
    }
    pub(crate) fn status(&self) -> i32 {
        self.number(sys::billcore_error_status)
    }
    pub(crate) fn http_status(&self) -> i32 {
        self.number(sys::billcore_error_http_status)
    }
    pub(crate) fn attempts(&self) -> i32 {
        self.number(sys::billcore_error_attempts)
    }
    pub(crate) fn outcome_unknown(&self) -> bool {
        self.number(sys::billcore_error_outcome_unknown)
    }
    pub(crate) fn sent_late(&self) -> bool {
        self.number(sys::billcore_error_sent_late)
    }
    pub(crate) fn reason(&self) -> i32 {
        self.number(sys::billcore_error_reason)
    }
    pub(crate) fn cause(&self) -> i32 {
        self.number(sys::billcore_error_cause)
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
