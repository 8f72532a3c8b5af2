use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::Timestamp;
pub(crate) use crate::codes::{ErrorCode, Reason};
use crate::ffi::NativeError;

/// The result of a function of this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a failed call. No text of an `Error` shows a secret or an API key. An `Error` is immutable. Keep the
/// error of a failed charge for [`Subscriptions::find_charges`](crate::Subscriptions::find_charges).
///
/// A method of `Error` returns `None`, 0 or false when the error does not have the value that the method reads. Clones
/// of an error share its texts.
#[derive(Clone)]
pub struct Error(Cause);

#[derive(Clone)]
enum Cause {
    Library(Arc<Native>),
    Crate { code: ErrorCode, status: i32, message: Cow<'static, str>, reason: Option<Reason> },
}

struct Native {
    error: NativeError,
    /// The error that `source` returns; `source` makes it in its first call.
    source: OnceLock<Error>,
}

fn some(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

impl Error {
    pub(crate) fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Cause::Crate { code, status: code as i32, message: message.into(), reason: None })
    }
    /// Makes the error of a delivery that the receiver refuses before the library verifies it.
    #[cfg(feature = "tower")]
    pub(crate) fn refused(code: ErrorCode, reason: Reason, message: &str) -> Self {
        let message = format!("{reason}: {message}").into();
        Self(Cause::Crate { code, status: code as i32, message, reason: Some(reason) })
    }
    pub(crate) fn native(error: NativeError) -> Self {
        Self(Cause::Library(Arc::new(Native { error, source: OnceLock::new() })))
    }
    /// Makes an error from a status that the C library returned without an error object.
    pub(crate) fn of_status(status: i32) -> Self {
        let code = ErrorCode::of_status(status).unwrap_or(ErrorCode::Internal);
        Self(Cause::Crate { code, status, message: code.name().into(), reason: None })
    }
    #[cfg(feature = "client")]
    pub(crate) fn as_native(&self) -> Option<&NativeError> {
        self.of(Some, None)
    }
    fn of<'a, T>(&'a self, read: impl FnOnce(&'a NativeError) -> T, otherwise: T) -> T {
        match &self.0 {
            Cause::Library(native) => read(&native.error),
            Cause::Crate { .. } => otherwise,
        }
    }

    /// The code of the error; [`ErrorCode::Internal`] if this version of the crate does not know the code's number.
    pub fn code(&self) -> ErrorCode {
        match &self.0 {
            Cause::Library(native) => ErrorCode::of_status(native.error.status()).unwrap_or(ErrorCode::Internal),
            Cause::Crate { code, .. } => *code,
        }
    }
    /// The number of the error's code, the same in every language.
    pub fn status(&self) -> i32 {
        match &self.0 {
            Cause::Library(native) => native.error.status(),
            Cause::Crate { status, .. } => *status,
        }
    }
    /// Whether the error has this code or a more specific one: for example, [`ErrorCode::Api`] also matches a refused
    /// payment. [`ErrorCode::OutcomeUnknown`] matches every write that may have happened.
    pub fn is(&self, code: ErrorCode) -> bool {
        let mut own = Some(self.code());
        while let Some(found) = own {
            if found == code {
                return true;
            }
            own = found.parent();
        }
        code == ErrorCode::OutcomeUnknown && self.outcome_unknown()
    }
    /// One line that says what was wrong and what to do.
    pub fn message(&self) -> &str {
        match &self.0 {
            Cause::Library(native) => native.error.message(),
            Cause::Crate { message, .. } => message,
        }
    }
    /// True when a write may or may not have happened. Before you send the write again, check whether it happened.
    pub fn outcome_unknown(&self) -> bool {
        self.of(NativeError::outcome_unknown, false)
    }
    /// HTTP status of the service's answer. For an error with a [`Reason`], the status that the receiver should answer.
    pub fn http_status(&self) -> Option<u16> {
        let status = self.of(NativeError::http_status, 0);
        let told = u16::try_from(status).ok().filter(|status| *status != 0);
        told.or_else(|| self.reason().map(Reason::http_status))
    }
    /// The field `code` in the service's error body. Service interface: Errors.
    pub fn api_code(&self) -> Option<&str> {
        self.of(|error| some(error.api_code()), None)
    }
    /// The field `message` in the service's error body. Service interface: Errors.
    pub fn api_message(&self) -> Option<&str> {
        self.of(|error| some(error.api_message()), None)
    }
    /// The text of the answer's body, without secrets and cut to a few thousand bytes.
    pub fn body(&self) -> Option<&str> {
        self.of(|error| some(error.body()), None)
    }
    /// Value of the answer's request id header.
    pub fn request_id(&self) -> Option<&str> {
        self.of(|error| some(error.request_id()), None)
    }
    /// Method of the request, such as POST.
    pub fn method(&self) -> Option<&str> {
        self.of(|error| some(error.method()), None)
    }
    /// Percent-encoded path of the request, relative to the base URL.
    pub fn path(&self) -> Option<&str> {
        self.of(|error| some(error.path()), None)
    }
    /// How many times the client tried the request.
    pub fn attempts(&self) -> u32 {
        self.of(NativeError::attempts, 0).try_into().unwrap_or(0)
    }
    /// How long the client should wait before it sends the request again, according to the service's answer.
    pub fn retry_after(&self) -> Option<Duration> {
        let seconds = self.of(NativeError::retry_after, None)?;
        Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
    }
    /// Whether a write may have been sent after its deadline, because the process or the machine was stopped while the
    /// library sent it.
    pub fn is_sent_late(&self) -> bool {
        self.of(NativeError::sent_late, false)
    }
    /// When the request was sent, for a write whose outcome is unknown.
    pub fn attempted_at(&self) -> Option<Timestamp> {
        self.of(NativeError::attempted_at, None).map(Timestamp::from_unix_micros)
    }
    /// The failure that led to [`ErrorCode::OutcomeUnknown`] or [`ErrorCode::PossiblyMissed`].
    pub fn cause(&self) -> Option<ErrorCode> {
        ErrorCode::of_status(self.of(NativeError::cause, 0))
    }
    /// One-line message of the failure that [`Error::cause`] returns.
    pub fn cause_message(&self) -> Option<&str> {
        self.of(|error| some(error.cause_message()), None)
    }
    /// Path of the JSON value that could not be read, such as `data.price`.
    pub fn field_path(&self) -> Option<&str> {
        self.of(|error| some(error.field_path()), None)
    }
    /// Why a delivery was refused.
    pub fn reason(&self) -> Option<Reason> {
        match &self.0 {
            Cause::Library(native) => Reason::of_number(native.error.reason()),
            Cause::Crate { reason, .. } => *reason,
        }
    }
    /// The orders that a search for charges had found when it failed with [`ErrorCode::PossiblyMissed`], latest first.
    /// For an error with another code the result is empty.
    #[cfg(feature = "client")]
    pub fn found_charges(&self) -> Result<Vec<crate::Order>> {
        match self.as_native() {
            Some(error) if self.code() == ErrorCode::PossiblyMissed => {
                crate::client::items(&crate::ffi::NativePage::found(error)?)
            }
            _ => Ok(Vec::new()),
        }
    }
    /// Whether the deadline of the call passed.
    pub fn is_timeout(&self) -> bool {
        self.code() == ErrorCode::Timeout || self.cause() == Some(ErrorCode::Timeout)
    }
    /// Whether the call was interrupted: by a [`CancelToken`](crate::CancelToken), or because the tokio runtime was
    /// shut down. For a write, see also [`Error::outcome_unknown`].
    pub fn is_cancelled(&self) -> bool {
        self.code() == ErrorCode::Interrupted
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

/// The `Debug` text shows the code, the message and whether the outcome is unknown, but not the answer's text.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Error");
        out.field("code", &self.code()).field("message", &self.message());
        if self.outcome_unknown() {
            out.field("outcome_unknown", &true);
        }
        out.finish_non_exhaustive()
    }
}

/// The method `source` returns the failure that led to this error, if there is one: an error with the code
/// [`Error::cause`] and the message [`Error::cause_message`].
impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let Cause::Library(native) = &self.0 else { return None };
        let code = self.cause()?;
        let message = || native.error.cause_message().to_owned();
        Some(native.source.get_or_init(|| Self::new(code, message())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_parents() {
        use ErrorCode::*;
        for (code, parent) in [
            (Payment, Api),
            (Conflict, Api),
            (Tls, Transport),
            (Timeout, Transport),
            (MissingField, Decode),
            (OutOfRange, Decode),
        ] {
            let error = Error::new(code, "x");
            assert!(error.is(code) && error.is(parent) && !error.is(Signature) && !error.is(OutcomeUnknown), "{code}");
        }
        assert!(Error::new(OutcomeUnknown, "x").is(OutcomeUnknown));
        assert_eq!(Error::of_status(99).code(), Internal);
        assert_eq!(Error::of_status(99).status(), 99);
    }

    #[test]
    fn an_error_of_this_crate_has_no_answer() {
        let error = Error::new(ErrorCode::Config, "the reason");
        assert_eq!(error.to_string(), "the reason");
        assert_eq!(format!("{error:?}"), r#"Error { code: Config, message: "the reason", .. }"#);
        assert!(error.http_status().is_none() && error.body().is_none() && error.retry_after().is_none());
        assert!(error.attempts() == 0 && error.reason().is_none() && error.cause().is_none() && !error.is_timeout());
    }
}
