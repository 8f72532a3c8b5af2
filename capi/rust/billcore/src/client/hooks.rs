use std::time::Duration;

use crate::ErrorCode;

/// Describes one attempt of a call. Apart from `request_id` and `path`, an `Attempt` contains no header values, bodies
/// or ids.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Attempt<'a> {
    /// Number of the attempt, from 1.
    pub number: u32,
    /// HTTP method, such as GET.
    pub method: &'a str,
    /// Route, such as `/subscription/{id}`; "(other)" for a path that is not in the service interface.
    pub route: &'a str,
    /// HTTP status of the answer; `None` before the answer, and when the answer is incomplete.
    pub status: Option<u16>,
    /// Why there is no complete answer; [`ErrorCode::Interrupted`] when the attempt was cancelled.
    pub failure: Option<ErrorCode>,
    /// Request id from the answer.
    pub request_id: Option<&'a str>,
    /// How long the attempt took; set after the attempt.
    pub duration: Duration,
    /// Time until the next attempt; set only for [`Hooks::on_retry`].
    pub wait: Duration,
    /// Whether any part of the request was sent; set after the attempt.
    pub sent: bool,
    /// Whether the request is a write that may or may not have happened; set after the attempt.
    pub outcome_unknown: bool,
    /// Path, with the record's id, of a write that was cancelled (by a token or a dropped future) after it was sent;
    /// otherwise `None`. The cancelled write may have happened, and a caller that dropped the future gets no error for
    /// it.
    pub path: Option<&'a str>,
}

/// Methods that the client calls for every attempt of every call, for logs, metrics and traces. The methods run on
/// the thread of the call. If threads share a client, several methods may run at once. When a list with pages in
/// flight is stopped or dropped, the methods run on the thread that stops or drops the list. For an
/// `AsyncClient`, its documentation says where they run.
///
/// Each `on_request` is followed by exactly one `on_response`, even when the attempt fails or is cancelled. A hook
/// may make other calls, but must not use the list whose page is being fetched.
///
/// A panic in a method ends that method but not the call, so that the caller learns whether a write was done. Rust's
/// panic hook ([`std::panic::set_hook`]) reports the panic.
pub trait Hooks: Send + Sync {
    /// Called before an attempt.
    fn on_request(&self, attempt: &Attempt<'_>) {
        let _ = attempt;
    }
    /// Called after an attempt, whether it was answered, failed or was cancelled.
    fn on_response(&self, attempt: &Attempt<'_>) {
        let _ = attempt;
    }
    /// Called before the wait for the next attempt.
    fn on_retry(&self, attempt: &Attempt<'_>) {
        let _ = attempt;
    }
}
